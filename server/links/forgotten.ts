// "I forgot my password": sends a link by e-mail. The request has its response before any of this runs, so that neither the response nor
// its time says whether there is such a user. What waits is bounded, and is finished before the process ends.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestSource } from '../audit/entry.ts'
import type { NamedAccount, SignInLog } from '../audit/sign-in-log.ts'
import { wideNetworkOf } from '../basics/client.ts'
import { displayTime } from '../basics/clock.ts'
import { CarillonError, messageOf } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { Guess, Guesses } from '../guessing/guesses.ts'
import { languageFor } from '../pages/texts/texts.ts'
import { findUsersByEmail, type User } from '../users/users.store.ts'
import { lookUp, type UserDependencies } from '../users/users.ts'
import { createLink, type LinkSettings } from './links.ts'

/** Whose password was forgotten: one of the two. Users who share an address get one mail each. */
export type Forgotten = { username?: string; email?: string }
type Request = { forgotten: Forgotten; source: RequestSource; acceptLanguage: string | undefined; network: string }

type Recipient = { to: string; locale: string | null; acceptLanguage: string | undefined }
type ResetMail = Recipient & { kind: 'reset'; url: string; facts: { username: string; until: string } }

type ForgottenOptions = {
  users: UserDependencies
  links: LinkSettings
  guesses: Guesses
  send: (mail: ResetMail) => Promise<void>
  log: Log
  signInLog: Pick<SignInLog, 'refused'>
}

const maxWaiting = 1_000
/** Of one client: a /48 of IPv6 or an IPv4 address. It must not take the places of others. */
const maxOfClient = 20
const maxAtOnce = 4
/** Who shares an address with more users than these gets no mail for the others. */
const maxUsers = 5
const logEveryMs = 1_000
/** Below the time that supervisors give a process to end. */
const maxEndMs = 5_000

export class ForgottenPasswords {
  readonly #options: ForgottenOptions
  readonly #waiting: Request[] = []
  readonly #running = new Set<Promise<void>>()
  /** What was dropped and what failed in this second, and why the last one failed: one line a second, so that clients cannot fill the log. */
  #counts = { dropped: 0, failed: 0, reason: '' }
  readonly #second = new LogWindow(logEveryMs, () => this.#writeCounts())

  constructor(options: ForgottenOptions) {
    this.#options = options
  }

  /**
   * Returns at once. If too many requests wait, of all clients or of this one, it is dropped, whichever user it is about, and the log says
   * so. Beyond the client's limit it is refused before it waits.
   */
  request(forgotten: Forgotten, source: RequestSource, acceptLanguage?: string): void {
    const network = wideNetworkOf(source.address)
    const ofClient = this.#waiting.filter((one) => one.network === network).length
    if (ofClient >= maxOfClient || this.#waiting.length >= maxWaiting) this.#drop(1)
    else if (this.#options.guesses.acceptsMailRequest(source.address))
      this.#waiting.push({ forgotten, source, acceptLanguage, network })
    else this.#refuse(source, accountOf(forgotten))
    // After the response has been written.
    setImmediate(() => this.#startNext())
  }

  /** Resolves when every mail is sent, or after five seconds: a mail that is not sent by then is dropped, and the log says so. */
  async end(): Promise<void> {
    this.#startNext()
    const allDone = async () => {
      while (this.#running.size > 0) await Promise.race(this.#running)
    }
    await Promise.race([allDone(), sleep(maxEndMs, undefined, { ref: false })])
    this.#drop(this.#waiting.splice(0).length + this.#running.size)
    this.#second.end()
  }

  #drop(count: number): void {
    this.#counts.dropped += count
    this.#second.begin()
  }

  /** Writes a line for all that were dropped, and one for all that failed, since the last lines. */
  #writeCounts(): void {
    const { log } = this.#options
    const { dropped, failed: count, reason } = this.#counts
    if (dropped > 0) log.warn({ event: 'mails-dropped', count: dropped }, 'requests for a new password were dropped')
    if (count > 0) log.warn({ event: 'mail-failed', count, reason }, 'requests for a new password failed')
    this.#counts = { dropped: 0, failed: 0, reason: '' }
  }

  #startNext(): void {
    while (this.#running.size < maxAtOnce && this.#waiting.length > 0) {
      const work = this.#answer(this.#waiting.shift() as Request).finally(() => {
        this.#running.delete(work)
        this.#startNext()
      })
      this.#running.add(work)
    }
  }

  /** Never throws: no caller waits for it. */
  async #answer(request: Request): Promise<void> {
    try {
      const { guesses } = this.#options
      const { forgotten, source } = request
      if (!(await this.#within(guesses.beginMailRequest(source.address), source, accountOf(forgotten)))) return
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

  /** An address counts only as an application or the operator entered it: a request never chooses where a link goes. */
  async #sendTo(user: User, { source, acceptLanguage }: Request): Promise<void> {
    const { users, links, guesses, send, log } = this.#options
    const { id, username, email, locale, disabledAt } = user
    if (username === null || email === null || disabledAt !== null) return
    const begun = guesses.beginMail({ userId: id, email, address: source.address })
    const counted = await this.#within(begun, source, { name: username, user })
    if (counted === undefined) return
    try {
      const { url, expiresAt } = await createLink({ ...users, source }, links, { id }, { purpose: 'reset', email })
      const facts = { username, until: displayTime(expiresAt, languageFor(acceptLanguage, locale)) }
      await send({ to: email, locale, acceptLanguage, url, kind: 'reset', facts })
      log.info({ event: 'mail-sent', userId: id }, 'a link to set a new password was sent')
    } catch (error) {
      const reason = messageOf(error)
      log.warn({ event: 'mail-failed', userId: id, reason }, 'the mail with a link to set a new password was not sent')
      await guesses.succeed(counted)
    }
  }

  /** Undefined if it is beyond a limit. */
  async #within(begun: Promise<Guess>, source: RequestSource, account: NamedAccount): Promise<Guess | undefined> {
    try {
      return await begun
    } catch (error) {
      if (!(error instanceof CarillonError) || error.code !== 'TOO_MANY_REQUESTS') throw error
      this.#refuse(source, account)
      return undefined
    }
  }

  #refuse(source: RequestSource, account: NamedAccount): void {
    this.#options.signInLog.refused(source, account, { event: 'link-refused', code: 'TOO_MANY_REQUESTS' })
  }
}

/** As the request names it. */
function accountOf({ email, username = '' }: Forgotten): NamedAccount {
  return { name: email ?? username, user: undefined }
}
