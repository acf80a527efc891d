// Notifies users in their own inbox of a sign-in from a device that they have not used before: what, where and when, with a link to the
// account page, where the user can say that it was another person.
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log/log.ts'
import type { SeenDevice, Store } from '../../store/store.ts'
import { iso } from '../../times.ts'
import type { Notice } from '../notices/credential-notices.ts'

/** How many devices are remembered for a user, those that were seen last. */
export const maxKnownDevices = 50
/** The inbox usually has the notification when the sign-in gets its response, and the response never waits longer for it. */
const maxDelayMs = 250

export type NewDevice = {
  userId: string
  signInId: string
  /** Null if the client does not say what it is. */
  device: string | null
  address: string
  at: number
  from: SeenDevice
}

type Options = {
  store: Pick<Store, 'noteDevice'>
  /** Sends a notification to one user, once for each `id`. */
  deliver: (userId: string, notice: Notice, id: string) => Promise<unknown>
  pagesUrl: () => string
  log: Log
  isOn: boolean
}

export class NewDeviceNotices {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** If they are off, every device counts as known. */
  get isOn(): boolean {
    return this.#options.isOn
  }

  /**
   * Resolves soon, whatever happens to the notification. The device becomes known only after it was delivered: if it cannot be, the
   * log says so, and the next sign-in from the device sends one.
   */
  async send(device: NewDevice): Promise<void> {
    const sent = this.#deliver(device).catch((error: unknown) => {
      const { userId, signInId } = device
      const fields = { event: 'new-device-not-notified', userId, signInId, reason: messageOf(error) }
      this.#options.log.error(fields, 'a user could not be notified of a sign-in from a new device')
    })
    await Promise.race([sent, sleep(maxDelayMs, undefined, { ref: false })])
  }

  async #deliver({ userId, signInId, device, address, at, from }: NewDevice): Promise<void> {
    const { store, deliver, pagesUrl } = this.#options
    const what = device ?? 'an unknown device'
    const notice = {
      title: `New sign-in from ${what}`,
      body: `Somebody signed in to your account with ${what}, from the address ${address}, on ${displayTime(at)}. If that was not you, open this and choose "That was not me".`,
      url: `${pagesUrl()}/account#session-${signInId}`,
      category: 'security',
      data: { sessionId: signInId, device, address, at: iso(at) },
    }
    await deliver(userId, notice, signInId)
    await store.noteDevice({ userId, device: { ...from, isKnown: true }, at })
  }
}

/** 2026-01-01 09:30 UTC */
function displayTime(at: number): string {
  return `${iso(at).slice(0, 16).replace('T', ' ')} UTC`
}
