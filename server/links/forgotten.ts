// Mails a link for a forgotten password or a first second factor. The response goes out first, so
// neither it nor its time reveals a user. An outbox row waits for the mail server. The link is made
// when the mail leaves.
import { setTimeout as waitFor } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { type RequestSource, sourceOf } from '../audit/entry.ts'
import type { NamedAccount, SignInLog } from '../audit/sign-in-log.ts'
import { BoundedCache } from '../basics/bounded-cache.ts'
import { displayTime } from '../basics/clock.ts'
import { CarillonError, messageOf, notFound } from '../basics/errors.ts'
import { wideNetworkOf } from '../basics/ip-addresses.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { Guess, Guesses } from '../guessing/guesses.ts'
import type { Site } from '../http/site.ts'
import { languageFor } from '../pages/texts/texts.ts'
import type { UserMail } from '../reach/mail.ts'
import type { OutboxRow } from '../reach/outbox.store.ts'
import type { Outbox } from '../reach/outbox.ts'
import type { Reach } from '../reach/reach.ts'
import { lookUp, type UserDependencies } from '../users/find-user.ts'
import { findUser, findUsersByEmail, type User } from '../users/users.store.ts'
import { createLink, type LinkSettings } from './links.ts'

type Forgotten = { username?: string; email?: string }
type Request = {
  forgotten: Forgotten
  source: RequestSource
  acceptLanguage: string | undefined
  network: string
}

type LinkMail = UserMail & { kind: 'reset' | 'factor' }
type Asked = { source: RequestSource; acceptLanguage?: string | undefined }

type ForgottenOptions = {
  users: UserDependencies
  links: LinkSettings
  guesses: Guesses
  outbox: Pick<Outbox, 'add'>
  log: Log
  signInLog: Pick<SignInLog, 'refused'>
}

const maxRunning = 1_000
/** One client must not take others' places. */
const maxOfClient = 20
const maxUsers = 5
/** A client beyond its budget waits: the event loop is free for others' mails. */
const refusedDelayMs = 200
const maxDelayed = 1_000
const logEveryMs = 1_000
/** A user who waited for longer has requested another link. */
const resetMaxAgeMs = 15 * 60_000
/** Clients take turns: the first mail of a minute is due this much before a client's later ones. */
const headStartMs = 60_000

export class ForgottenPasswords {
  readonly #options: ForgottenOptions
  readonly #running = new Map<Promise<void>, string>()
  readonly #recent = new BoundedCache<{ from: number; count: number }>(10_000)
  #delayed = 0
  /** One line a second, so that no client fills the log. */
  #counts = { dropped: 0, failed: 0, reason: '' }
  readonly #second = new LogWindow(logEveryMs, () => this.#writeCounts())

  constructor(options: ForgottenOptions) {
    this.#options = options
  }

  /**
   * Drops the request if too many are in progress. How long it takes depends only on the earlier
   * requests of the client.
   */
  async request(
    forgotten: Forgotten,
    source: RequestSource,
    acceptLanguage?: string,
  ): Promise<void> {
    if (!this.#options.guesses.acceptsMailRequest(source.address)) {
      this.#refuse(source, accountOf(forgotten))
      return this.#delayResponse()
    }
    const network = wideNetworkOf(source.address)
    const ofClient = [...this.#running.values()].filter((one) => one === network).length
    if (ofClient >= maxOfClient || this.#running.size >= maxRunning) this.#drop()
    else this.#begin({ forgotten, source, acceptLanguage, network })
  }

  async #delayResponse(): Promise<void> {
    if (this.#delayed >= maxDelayed) return
    this.#delayed++
    await waitFor(refusedDelayMs)
    this.#delayed--
  }

  /** Returns the verified address, if any. Throws TOO_MANY_REQUESTS. */
  async sendFactorLink(
    user: User,
    source: RequestSource,
    acceptLanguage?: string,
  ): Promise<string | undefined> {
    const { users, guesses, outbox } = this.#options
    const { id: ownerId, email, emailVerifiedAt } = user
    if (email === null || emailVerifiedAt === null) return undefined
    await guesses.beginMail({ userId: ownerId, email, address: source.address })
    const at = users.now()
    const ids = JSON.stringify({ source, acceptLanguage } satisfies Asked)
    await outbox.add({ kind: 'factor', ownerId, target: email, ids, dueAt: at, at })
    return email
  }

  #begin(request: Request): void {
    const written = new Promise<void>((resolve) => setImmediate(resolve))
    const work = written.then(() => this.#answer(request)).finally(() => this.#running.delete(work))
    this.#running.set(work, request.network)
  }

  async end(): Promise<void> {
    await Promise.all(this.#running.keys())
    this.#second.end()
  }

  #drop(): void {
    this.#counts.dropped++
    this.#second.begin()
  }

  #writeCounts(): void {
    const { log } = this.#options
    const { dropped, failed: count, reason } = this.#counts
    if (dropped > 0)
      log.warn(
        { event: 'mails-dropped', count: dropped },
        'requests for a new password were dropped',
      )
    if (count > 0)
      log.warn({ event: 'send-failed', count, reason }, 'requests for a new password failed')
    this.#counts = { dropped: 0, failed: 0, reason: '' }
  }

  /** It never throws: no caller waits. */
  async #answer(request: Request): Promise<void> {
    try {
      const { guesses } = this.#options
      const { forgotten, source } = request
      if (
        !(await this.#within(
          guesses.beginMailRequest(source.address),
          source,
          accountOf(forgotten),
        ))
      )
        return
      for (const user of await this.#usersOf(forgotten)) await this.#sendTo(user, request)
    } catch (error) {
      this.#counts.failed++
      this.#counts.reason = messageOf(error)
      this.#second.begin()
    }
  }

  async #usersOf({ email, username = '' }: Forgotten): Promise<User[]> {
    const { users } = this.#options
    if (email !== undefined) return users.store.read(findUsersByEmail, { email, limit: maxUsers })
    const user = await lookUp(users, { username })
    return user === undefined ? [] : [user]
  }

  /** No request chooses where a link goes. */
  async #sendTo(user: User, { source, acceptLanguage, network }: Request): Promise<void> {
    const { users, guesses, outbox } = this.#options
    const { id, username, email, disabledAt } = user
    if (username === null || email === null || disabledAt !== null) return
    const begun = guesses.beginMail({ userId: id, email, address: source.address })
    if ((await this.#within(begun, source, { name: username, user })) === undefined) return
    const at = users.now()
    const ids = JSON.stringify({ source, acceptLanguage } satisfies Asked)
    await outbox.add({
      kind: 'reset',
      ownerId: id,
      target: email,
      ids,
      dueAt: at - this.#headStart(network, at),
      at,
    })
  }

  #headStart(network: string, at: number): number {
    const known = this.#recent.get(network)
    const recent =
      known !== undefined && at - known.from < headStartMs ? known : { from: at, count: 0 }
    this.#recent.set(network, { ...recent, count: recent.count + 1 }, 1)
    return Math.round(headStartMs * 0.8 ** recent.count)
  }

  registerAt(reach: Reach): void {
    const { log } = this.#options
    for (const purpose of ['reset', 'factor'] as const)
      reach.register(purpose, {
        renderMail: (row) => this.#renderMail(row, purpose),
        maxAgeMs: resetMaxAgeMs,
        sent: ({ ownerId: userId }) =>
          log.info({ event: 'mail-sent', userId, purpose }, 'a link was sent'),
        givenUp: (row) => this.#takeBack(row),
      })
  }

  async #renderMail(
    { ownerId, target, ids }: OutboxRow,
    purpose: LinkMail['kind'],
  ): Promise<LinkMail | undefined> {
    const { users, links } = this.#options
    const { source, acceptLanguage }: Asked = JSON.parse(ids)
    const user = await users.store.read(findUser, ownerId)
    if (user === undefined || user.email !== target || user.disabledAt !== null) return undefined
    if (user.username === null && purpose === 'reset') return undefined
    if (user.emailVerifiedAt === null && purpose === 'factor') return undefined
    const { locale } = user
    const username = user.username ?? user.displayName ?? target
    const { url, expiresAt } = await createLink(
      { ...users, source },
      links,
      { id: ownerId },
      { purpose, email: target },
    )
    const facts = { username, until: displayTime(expiresAt, languageFor(acceptLanguage, locale)) }
    return { kind: purpose, to: target, locale, acceptLanguage, url, facts }
  }

  async #takeBack({ ownerId, target, ids }: OutboxRow): Promise<void> {
    const { source }: Asked = JSON.parse(ids)
    const { guesses } = this.#options
    await guesses.succeed(
      guesses.ofMail({ userId: ownerId, email: target, address: source.address }),
    )
  }

  async #within(
    begun: Promise<Guess>,
    source: RequestSource,
    account: NamedAccount,
  ): Promise<Guess | undefined> {
    try {
      return await begun
    } catch (error) {
      if (!(error instanceof CarillonError) || error.code !== 'TOO_MANY_REQUESTS') throw error
      this.#refuse(source, account)
      return undefined
    }
  }

  #refuse(source: RequestSource, account: NamedAccount): void {
    this.#options.signInLog.refused(source, account, {
      event: 'link-refused',
      code: 'TOO_MANY_REQUESTS',
      method: 'link',
    })
  }
}

function accountOf({ email, username = '' }: Forgotten): NamedAccount {
  return { name: email ?? username, user: undefined }
}

export type ForgotNeeds = { site: Site; forgotten: ForgottenPasswords | undefined }

export function requestReset(
  dependencies: ForgotNeeds,
  whose: Forgotten,
  request: FastifyRequest,
): Promise<void> {
  const { forgotten } = dependencies
  if (forgotten === undefined)
    throw notFound(
      'This service sends no mail',
      'Request a link from its operator: carillon user link NAME, or CARILLON_SMTP_URL.',
    )
  return forgotten.request(
    whose,
    sourceOf(dependencies, request),
    request.headers['accept-language'],
  )
}
