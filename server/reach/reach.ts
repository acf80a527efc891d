// What reaches users who are not looking: the outbox, and the timers of what is unread.
import type { Clock } from '../basics/clock.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { Config } from '../config/settings.ts'
import type { Store } from '../store/store.ts'
import type { FactorPolicy } from '../tokens/factor-policy.ts'
import { type Mail, renderUserMail, type UserMail } from './mail.ts'
import type { OutboxRow } from './outbox.store.ts'
import { Outbox, type RowKind } from './outbox.ts'
import { Pushes } from './push/pushes.ts'
import { removeUnusedSubscriptions } from './push/subscriptions.store.ts'
import { Refusals } from './refusals.ts'
import { Reminders } from './reminders.ts'
import { UnreadMails } from './unread.ts'
import type { Picture } from './unread-mail.ts'

const logEveryMs = 60_000

type Options = {
  store: Store
  config: Pick<
    Config,
    | 'pagesName'
    | 'pagesPrefix'
    | 'accent'
    | 'mailUnread'
    | 'mailContent'
    | 'pushDelayMs'
    | 'pushContent'
    | 'pushHosts'
    | 'securityContact'
  >
  sealing: Sealing
  policy: Pick<FactorPolicy, 'limitedFrom'>
  clock: Pick<Clock, 'now'>
  url: () => string
  random: () => number
  log: Log
  logo: Picture | undefined
  /** Undefined without a mail server. */
  send: ((mail: Mail) => Promise<void>) | undefined
}

type UserMailKind = Omit<RowKind, 'deliver'> & {
  renderMail: (row: OutboxRow) => Promise<UserMail | undefined>
  sent?: (row: OutboxRow) => void
}

export class Reach {
  readonly #options: Options
  /** Undefined without a mail server. */
  readonly outbox: Outbox | undefined
  readonly pushes: Pushes
  readonly #pushOutbox: Outbox
  readonly #unread: UnreadMails
  readonly #refusals: Refusals
  readonly #reminders: Reminders
  readonly #logged = new LogWindow(logEveryMs, () => {})

  constructor(options: Options) {
    const { store, send, clock, random, log, config, sealing, policy, url, logo } = options
    const { now } = clock
    this.#options = options
    const outbox = send && new Outbox({ store, channel: 'mail', now, random, log })
    this.outbox = outbox
    this.#refusals = new Refusals({ store, now, log })
    this.#unread = new UnreadMails({
      store,
      sealing,
      now,
      mailUnread: config.mailUnread,
      hasTitles: config.mailContent === 'titles',
      serviceName: config.pagesName,
      accent: config.accent,
      logo,
      publicUrl: url,
      pagesUrl: () => url() + config.pagesPrefix,
      onRows: () => outbox?.wake(),
    })
    outbox?.register('unread', {
      deliver: async (row) => this.#send(row, await this.#unread.render(row)),
    })
    const pushOutbox = new Outbox({ store, channel: 'push', now, random, log })
    this.#pushOutbox = pushOutbox
    this.pushes = new Pushes({
      store,
      sealing,
      policy,
      now,
      delayMs: config.pushDelayMs,
      hasContent: config.pushContent,
      hosts: config.pushHosts,
      contact: () => contactOf(config.securityContact, url()),
      onRows: () => pushOutbox.wake(),
    })
    pushOutbox.register('push', { deliver: (row) => this.pushes.deliver(row) })
    this.#reminders = new Reminders({
      store,
      now,
      decide: {
        push: (userId) => this.pushes.decide(userId),
        ...(outbox && { mail: (userId) => this.#unread.decide(userId) }),
      },
      onFailure: (error) => this.#logFailure(error),
    })
    this.register('test', {
      renderMail: async ({ target: to }) => ({
        kind: 'test',
        to,
        locale: null,
        url: url(),
        facts: {},
      }),
    })
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

  async #send({ id, ownerId }: OutboxRow, mail: Mail | undefined): Promise<void> {
    if (mail === undefined) return
    try {
      await this.#options.send?.({ ...mail, id })
    } catch (error) {
      await this.#refusals.note(ownerId, mail.to, error)
      throw error
    }
    // The mail has left: a failure here must not send it again.
    await this.#refusals.accepted(ownerId, mail.to).catch(() => {})
  }

  #logFailure(err: unknown): void {
    if (this.#logged.isOpen) return
    this.#logged.begin()
    this.#options.log.warn(
      { event: 'reminders-failed', err },
      'what is unread could not be looked at; retrying',
    )
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

  /** `aged`: the time by which something is too old. */
  async tidy(aged: () => Promise<number>): Promise<void> {
    await this.#options.store.write(removeUnusedSubscriptions, (await aged()) - unusedForMs)
  }
}

const unusedForMs = 60 * 24 * 3_600_000

/**
 * A push service reaches the operator by it (RFC 8292, section 2.1); undefined if neither is an
 * address that it accepts.
 */
function contactOf(securityContact: string | undefined, url: string): string | undefined {
  return [securityContact, url].find((one) => one !== undefined && /^(https:|mailto:)/.test(one))
}
