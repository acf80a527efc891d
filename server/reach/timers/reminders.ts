// Looks every second for due timers, and lets each be decided.
import { counts } from '../../basics/counts.ts'
import { newOrderedId } from '../../basics/ids.ts'
import type { Log } from '../../basics/log.ts'
import { LogWindow } from '../../basics/log-window.ts'
import type { ReminderChannel } from '../../inbox/reminders.store.ts'
import type { Store } from '../../store/store.ts'
import type { Outbox } from '../outbox.ts'
import { dueReminders, type Look } from './decision.store.ts'

export type Channel = { outbox: Pick<Outbox, 'wake'>; decide: (look: Look) => Promise<number> }
type Options = {
  store: Store
  now: () => number
  log: Log
  channels: Partial<Record<ReminderChannel, Channel>>
}

const everyMs = 1_000
const logEveryMs = 60_000
const atOnce = 8

export class Reminders {
  readonly #options: Options
  readonly #names: ReminderChannel[]
  readonly #logged = new LogWindow(logEveryMs, () => {})
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | undefined
  #isEnding = false

  constructor(options: Options) {
    this.#options = options
    this.#names = Object.keys(options.channels) as ReminderChannel[]
  }

  start(): void {
    this.#timer = setInterval(() => void this.#look(), everyMs).unref()
  }

  async end(): Promise<void> {
    this.#isEnding = true
    clearInterval(this.#timer)
    await this.#turn
  }

  #look(): Promise<void> {
    this.#turn ??= this.#lookAtAll()
      .catch((error) => this.#logOnce(error))
      .finally(() => {
        this.#turn = undefined
      })
    return this.#turn
  }

  async #lookAtAll(): Promise<void> {
    const { store, now, channels } = this.#options
    const read = () => store.read(dueReminders, { channels: this.#names, at: now() })
    let due = await read()
    let hasFailed = false
    // What failed is due again: the next second tries it.
    while (due.length > 0 && !hasFailed && !this.#isEnding) {
      const timers = due.values()
      const decide = async (channel: ReminderChannel, userId: string) => {
        const at = now()
        const count = await channels[channel]?.decide({ userId, at, rowId: newOrderedId(at) })
        counts.reminders[channel][count ? 'queued' : 'nothing']++
        if (count) channels[channel]?.outbox.wake()
      }
      const work = async () => {
        for (const { userId, channel } of timers) {
          if (this.#isEnding) return
          // One user's must not hold up those of others.
          await decide(channel, userId).catch((error) => {
            hasFailed = true
            this.#logOnce(error)
          })
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      due = await read()
    }
  }

  #logOnce(err: unknown): void {
    if (this.#logged.isOpen) return
    this.#logged.begin()
    this.#options.log.warn(
      { event: 'reminders-failed', err },
      'what is unread could not be looked at; retrying',
    )
  }
}
