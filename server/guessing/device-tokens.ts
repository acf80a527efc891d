// On which devices has a user signed in? After a sign-in the device keeps a token that says so, in a cookie or in the application. Its
// failures are counted by themselves, so that a user signs in on a known device while others guess the password (OWASP, "device cookies";
// decision 0039). A token is no proof: it allows to try a password and nothing else. It names no user: `<id of the device>.<seal>~<seal>`,
// with one seal for each user of the device, the last user first.
import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Sealing } from '../basics/secrets.ts'
import { sessionSecrets } from '../http/request/credentials.ts'
import type { Site } from '../http/site.ts'

export type DeviceUser = { id: string; deviceGeneration: number }

/** Users of one device. The one who signed in longest ago is forgotten first. */
const maxUsers = 10
const shape = /^([\w-]{22})\.([\w-]{43}(?:~[\w-]{43}){0,9})$/
/** Values that are read of one request: another host of the domain may add cookies of the same name. */
const maxPresented = 4

export const maxDeviceTokenLength = 22 + 44 * maxUsers

/** Checked in place of a user who does not exist, so that the response takes the same time. */
const noUser: DeviceUser = { id: '', deviceGeneration: 0 }

type Device = { id: string; seals: readonly string[] }
type Needs = { site: Pick<Site, 'deviceCookie'> }

export class DeviceTokens {
  readonly #sealing: Pick<Sealing, 'mac' | 'isMac'>

  constructor(sealing: Pick<Sealing, 'mac' | 'isMac'>) {
    this.#sealing = sealing
  }

  /** The id of the device if the user has signed in on it and `deviceGeneration` was not raised since; otherwise undefined. */
  knownDevice(presented: readonly string[], user: DeviceUser | undefined): string | undefined {
    const device = this.#known(devicesIn(presented), user ?? noUser)
    return user === undefined ? undefined : device?.id
  }

  /** The token after a sign-in of `user`: that of the device that was presented, also for its other users, or a new one. */
  afterSignIn(presented: readonly string[], user: DeviceUser): string {
    const devices = devicesIn(presented)
    const device = this.#known(devices, user) ?? devices[0]
    return this.#withSealOf(user, device ?? { id: randomBytes(16).toString('base64url'), seals: [] })
  }

  /**
   * The token after a one-time link set the password of `user`, who may still have to prove a second factor. `before`: the user before
   * that. A device that was known keeps its id. All others have one id for each user, so that each further link does not
   * allow further guesses of the second factor.
   */
  afterLink(presented: readonly string[], { before, user }: { before: DeviceUser; user: DeviceUser }): string {
    const id = this.#sealing.mac('device-tokens', `link ${user.id}`).slice(0, 22)
    return this.#withSealOf(user, this.#known(devicesIn(presented), before) ?? { id, seals: [] })
  }

  #withSealOf(user: DeviceUser, { id, seals }: Device): string {
    const others = seals.filter((seal) => !this.#isSealOf(user, id, seal))
    const own = this.#sealing.mac('device-tokens', sealed(user, id))
    return `${id}.${[own, ...others].slice(0, maxUsers).join('~')}`
  }

  #known(devices: readonly Device[], user: DeviceUser): Device | undefined {
    return devices.find(({ id, seals }) => seals.some((seal) => this.#isSealOf(user, id, seal)))
  }

  #isSealOf(user: DeviceUser, deviceId: string, seal: string): boolean {
    return this.#sealing.isMac('device-tokens', sealed(user, deviceId), seal)
  }
}

/** All that a seal is for. Another generation, another device or another user has another seal. */
function sealed({ id, deviceGeneration }: DeviceUser, deviceId: string): string {
  return `${id} ${deviceId} ${deviceGeneration}`
}

function devicesIn(presented: readonly string[]): Device[] {
  return presented.slice(0, maxPresented).flatMap((value) => {
    const [, id, seals] = shape.exec(value) ?? []
    return id === undefined || seals === undefined ? [] : [{ id, seals: seals.split('~') }]
  })
}

/** The device tokens of a request: the application's, in the body of a sign-in, and those of the browser's cookie. */
export function presentedDevices({ site }: Needs, { body, raw }: FastifyRequest): string[] {
  const { deviceToken } = (body ?? {}) as { deviceToken?: unknown }
  const cookies = sessionSecrets(raw.headers.cookie, site.deviceCookie.name)
  return typeof deviceToken === 'string' ? [deviceToken, ...cookies] : cookies
}
