// Looks once a second for timers that are due, and lets each be decided.
import type { ReminderChannel } from '../inbox/reminders.store.ts'
import type { Store } from '../store/store.ts'
import { dueReminders } from './timers.store.ts'

type Options = {
  store: Store
  now: () => number
  /** How the timers of each channel are decided. */
  decide: Partial<Record<ReminderChannel, (userId: string) => Promise<void>>>
  onFailure: (error: unknown) => void
}

const everyMs = 1_000
/** PostgreSQL decides about so many at the same time. */
const atOnce = 8

export class Reminders {
  readonly #options: Options
  readonly #channels: ReminderChannel[]
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | undefined
  #isEnding = false

  constructor(options: Options) {
    this.#options = options
    this.#channels = Object.keys(options.decide) as ReminderChannel[]
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
      .catch(this.#options.onFailure)
      .finally(() => {
        this.#turn = undefined
      })
    return this.#turn
  }

  async #lookAtAll(): Promise<void> {
    const { store, now, decide } = this.#options
    const read = () => store.read(dueReminders, { channels: this.#channels, at: now() })
    let due = await read()
    while (due.length > 0 && !this.#isEnding) {
      const timers = due.values()
      const work = async () => {
        for (const { userId, channel } of timers)
          if (!this.#isEnding) await decide[channel]?.(userId)
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      due = await read()
    }
  }
}
