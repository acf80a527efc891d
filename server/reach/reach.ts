// Reaches users who are not looking: the outbox, and the timers of what is unread.
import { CarillonError } from '../basics/errors.ts'
import { RateLimits } from '../basics/rate-limits.ts'
import { type Mail, renderUserMail, type UserMail } from './mail.ts'
import type { OutboxRow } from './outbox.store.ts'
import { Outbox, type RowKind } from './outbox.ts'
import { decidePush } from './push/push.store.ts'
import { Pushes } from './push/pushes.ts'
import { removeUnusedSubscriptions } from './push/subscriptions.store.ts'
import type { ReachOptions } from './reach-options.ts'
import { Refusals } from './refusals.ts'
import type { Look } from './timers/decision.store.ts'
import { Reminders } from './timers/reminders.ts'
import { decideMail } from './unread/unread.store.ts'
import { unreadMailOf } from './unread/unread-mails.ts'

type UserMailKind = Omit<RowKind, 'deliver'> & {
  renderMail: (row: OutboxRow) => Promise<UserMail | undefined>
  sent?: (row: OutboxRow) => void
}

/** To one user, about what is unread, by each process. */
const mailRate = { intervalMs: 5 * 60_000, burst: 10 }
const unusedForMs = 60 * 24 * 3_600_000

export class Reach {
  readonly #options: ReachOptions
  readonly outbox: Outbox | undefined
  readonly pushes: Pushes
  readonly #pushOutbox: Outbox
  readonly #refusals: Refusals
  readonly #reminders: Reminders
  readonly #mailed = new RateLimits()

  constructor(options: ReachOptions) {
    const { store, send, clock, random, log, config } = options
    const { mailUnread, pushDelayMs } = config
    const { now } = clock
    this.#options = options
    const outbox = send && new Outbox({ store, channel: 'mail', now, random, log })
    const pushOutbox = new Outbox({ store, channel: 'push', now, random, log })
    const pushes = new Pushes(options)
    this.outbox = outbox
    this.#pushOutbox = pushOutbox
    this.pushes = pushes
    this.#refusals = new Refusals({ store, now, log })
    outbox?.register('unread', {
      deliver: async (row) => {
        const mail = await unreadMailOf(options, row)
        if (mail !== undefined && row.tries === 0) this.#count(row.ownerId)
        await this.#send(row, mail)
      },
    })
    pushOutbox.register('push', { deliver: (row) => pushes.deliver(row) })
    this.register('test', {
      renderMail: async ({ target: to }) => ({
        kind: 'test',
        to,
        locale: null,
        url: options.url(),
        facts: {},
      }),
    })
    const mail = outbox && {
      outbox,
      decide: (look: Look) => store.write(decideMail, { ...look, mailUnread }),
    }
    const push = {
      outbox: pushOutbox,
      decide: (look: Look) => store.write(decidePush, { ...look, pushDelayMs }),
    }
    this.#reminders = new Reminders({ store, now, log, channels: { push, ...(mail && { mail }) } })
  }

  register(kind: string, { renderMail, sent, ...how }: UserMailKind): void {
    const deliver = async (row: OutboxRow) => {
      const mail = await renderMail(row)
      if (mail === undefined) return
      await this.#send(row, await renderUserMail(this.#options.config.pagesName, mail))
      sent?.(row)
    }
    this.outbox?.register(kind, { ...how, deliver })
  }

  /** Throws TOO_MANY_REQUESTS. A mail that waits gets what is due meanwhile. */
  #count(userId: string): void {
    const at = this.#options.clock.now()
    const rate = { key: userId, ...mailRate }
    const waitMs = this.#mailed.waitFor(rate, at)
    if (waitMs > 0)
      throw new CarillonError(
        'TOO_MANY_REQUESTS',
        `Too many mails to this user: ${mailRate.burst}, then one in five minutes`,
        { retryAfter: Math.ceil(waitMs / 1_000) },
      )
    this.#mailed.count(rate, at)
  }

  async #send({ id, ownerId }: OutboxRow, mail: Mail | undefined): Promise<void> {
    if (mail === undefined) return
    try {
      await this.#options.send?.({ ...mail, id })
    } catch (error) {
      await this.#refusals.note(ownerId, mail.to, error)
      throw error
    }
    // The mail has left: no failure here may send it again.
    await this.#refusals.accepted(ownerId, mail.to).catch(() => {})
  }

  start(): void {
    this.outbox?.start()
    this.#pushOutbox.start()
    this.#reminders.start()
  }

  async end(): Promise<void> {
    await this.#reminders.end()
    await Promise.all([this.outbox?.end(), this.#pushOutbox.end()])
  }

  async tidy(aged: () => Promise<number>): Promise<void> {
    await this.#options.store.write(removeUnusedSubscriptions, (await aged()) - unusedForMs)
  }
}
