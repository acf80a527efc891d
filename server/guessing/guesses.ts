// A guess counts as a failure before its evaluation: simultaneous ones cannot pass the limits. A
// right guess is taken back (A9, A10; decision 0039).
import { record } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import type { EventName } from '../audit/events.ts'
import { BoundedCache } from '../basics/bounded-cache.ts'
import { iso } from '../basics/clock.ts'
import { CarillonError } from '../basics/errors.ts'
import { type Client, networksOf, wideNetworkOf } from '../basics/ip-addresses.ts'
import { RateLimits } from '../basics/rate-limits.ts'
import type { Sealing } from '../basics/secrets.ts'
import { inBatches } from '../store/batches.ts'
import type { AuditEntry, Audited } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import type { GuessLimit, GuessRate, GuessRefusal } from './guesses.store.ts'
import * as stored from './guesses.store.ts'

type GuessKind = 'password' | 'second-factor' | 'link' | 'mail' | 'passkey'

export type Guesser = Omit<Client, 'account'> & {
  account?: string | { unknownName: string }
  /** Others never delay a known device, which counts apart. */
  device?: string | undefined
}

/**
 * After five failures 1 s, then 2, 4 up to 1,024 s: 5 + 11 + 82 = 98 failures a day, below 100
 * (NIST SP 800-63B-4, section 3.2.2).
 */
const guessDelaysMs = [0, 0, 0, 0, 0, ...Array.from({ length: 11 }, (_, n) => 1_000 * 2 ** n)]
const keptMs = 24 * 3_600_000
const countOf = (key: string): GuessLimit => ({ key, delaysMs: guessDelaysMs, keptMs })
/** 100 failures for all accounts, then 100 an hour. An IPv6 /56 has 4 times that, a /48 16. */
const rateOfAddress = { intervalMs: 36_000, burst: 100 }

/**
 * A user and an address get three mails, then one an hour, ten a day. One client causes fewer: some
 * are left for the owner.
 */
const hour = 3_600_000
const day = keptMs
const mailLimits = [
  { name: 'hour', intervalMs: hour, burst: 3, burstOfClient: 2 },
  { name: 'day', intervalMs: day, burst: 10, burstOfClient: 5 },
]
const tooManyMails =
  'Too many mails to this user: 3, then one an hour, and 10 a day; less for one client'
const noticeLimit = { intervalMs: hour, burst: 5 }
const testLimit = { intervalMs: hour, burst: 10 }
/** A client may request ten mails at once, then ten an hour. */
const mailRateOfAddress = { intervalMs: 360_000, burst: 10 }

/** From one client, an account may have 60 right sign-ins, then one in 10 s. All are audited. */
const signInRate = { intervalMs: 10_000, burst: 60 }
/** No limit for a one-time link: it works once, for an owner whose other ways are used up. */
type LimitedMethod = 'password' | 'passkey' | 'provider'

type Counting = { store: Store; now: () => number }
type Options = Counting & { sealing: Pick<Sealing, 'mac'> }

export type Guess = { limits: readonly GuessLimit[]; kind: GuessKind; userId: string | null }

type CountedMail = { userId: string; email: string; address: string }

export const guessPrefixOf = (userId: string) => `user ${userId} `

export class Guesses {
  readonly #options: Options
  readonly #delaysRecordedAt = new BoundedCache<number>(10_000)
  readonly #mails = new RateLimits()

  constructor(options: Options) {
    this.#options = options
  }

  acceptsMailRequest(address: string): boolean {
    const at = this.#options.now()
    const rates = this.#ratesOf(address, mailRateOfAddress, '')
    if (rates.some((rate) => this.#mails.waitFor(rate, at) > 0)) return false
    for (const rate of rates) this.#mails.count(rate, at)
    return true
  }

  /** No count may reveal a user. */
  beginMailRequest(address: string): Promise<Guess> {
    return this.begin({
      limits: this.#ratesOf(address, mailRateOfAddress, 'mail '),
      kind: 'mail',
      userId: null,
    })
  }

  beginMail(mail: CountedMail): Promise<Guess> {
    return this.begin(this.ofMail(mail))
  }

  ofMail({ userId, email, address }: CountedMail): Guess {
    const mailbox = this.#keyOf('mailbox', email.toLowerCase())
    const ofUser = `${guessPrefixOf(userId)}mail`
    const ofClient = `${ofUser} ${this.#wideKey(address)}`
    const limits = mailLimits.flatMap(({ name, intervalMs, burst, burstOfClient }) => [
      ...[ofUser, mailbox].map((key) => ({ key: `${key} ${name}`, intervalMs, burst })),
      { key: `${ofClient} ${name}`, intervalMs, burst: burstOfClient },
    ])
    return { limits, kind: 'mail', userId }
  }

  async beginNoticeMail({ userId, to }: { userId: string; to: string }): Promise<void> {
    const keys = [
      `${guessPrefixOf(userId)}notice`,
      `${this.#keyOf('mailbox', to.toLowerCase())} notice`,
    ]
    const limits = keys.map((key) => ({ key, ...noticeLimit }))
    // The audit log would show it as the user's guess.
    await this.begin({ limits, kind: 'mail', userId: null })
  }

  async beginTestNotification(userId: string): Promise<void> {
    await reserve(
      this.#options,
      { key: `${guessPrefixOf(userId)}test`, ...testLimit },
      'Too many messages',
    )
  }

  async beginSignIn(
    { userId, address }: { userId: string; address: string },
    method: LimitedMethod,
  ): Promise<void> {
    const key = `${guessPrefixOf(userId)}sign-in ${method} ${this.#wideKey(address)}`
    const more = ' A program signs in once, and keeps its session or token.'
    await reserve(
      this.#options,
      { key, ...signInRate },
      'Too many sign-ins to this account from your network',
      more,
    )
  }

  /** Runs before the password is hashed. Throws TOO_MANY_REQUESTS. */
  async beginConfirmation(userId: string): Promise<void> {
    const key = `${guessPrefixOf(userId)}sign-in confirmation`
    await reserve(this.#options, { key, ...signInRate }, 'Too many confirmations of this account')
  }

  of({ account, address, device }: Guesser, kind: GuessKind): Guess {
    const ofKind = kind === 'passkey' ? 'passkey ' : ''
    const rates = address === undefined ? [] : this.#ratesOf(address, rateOfAddress, ofKind)
    if (account === undefined) return { limits: rates, kind, userId: null }
    const isUser = typeof account === 'string'
    const all =
      (isUser ? guessPrefixOf(account) : `${this.#keyOf('name', account.unknownName)} `) + kind
    const ofNetwork =
      address === undefined ? [] : [countOf(`${all} ${this.#networkKeys(address)[0]}`)]
    const ofStranger = [countOf(all), ...ofNetwork, ...rates]
    const limits = device === undefined ? ofStranger : [countOf(`${all} device ${device}`)]
    return { limits, kind, userId: isUser ? account : null }
  }

  /** Guesses of second factors still count. */
  async forgetPasswordGuesses(userId: string): Promise<void> {
    await this.#options.store.write(stored.forgetGuesses, {
      prefix: `${guessPrefixOf(userId)}password`,
    })
  }

  /** A passkey proves more than password and code. Known devices keep their counts. */
  async forgetStrangers(userId: string): Promise<void> {
    const { store } = this.#options
    const counts = ['password', 'second-factor'].map((kind) => guessPrefixOf(userId) + kind)
    await store.write(stored.clearGuesses, { limits: counts.map(countOf) })
    for (const count of counts)
      await store.write(stored.forgetGuesses, { prefix: `${count} address ` })
  }

  /** The store has names and addresses only as MACs. */
  #keyOf(what: 'name' | 'mailbox' | 'address', text: string): string {
    return `${what} ${this.#options.sealing.mac('guesses', `${what} ${text}`)}`
  }

  #networkKeys(address: string): string[] {
    return networksOf(address).map((network) => this.#keyOf('address', network))
  }

  #wideKey(address: string): string {
    return this.#keyOf('address', wideNetworkOf(address))
  }

  #ratesOf(
    address: string,
    { intervalMs, burst }: Omit<GuessRate, 'key'>,
    prefix: string,
  ): GuessRate[] {
    return this.#networkKeys(address).map((key, n) => {
      const times = 4 ** n
      return { key: prefix + key, intervalMs: intervalMs / times, burst: burst * times }
    })
  }

  async removeOld(): Promise<void> {
    const { store, now } = this.#options
    await inBatches(() => store.write(stored.removeOldGuesses, now()))
  }

  async refuseIfDelayed(guess: Guess): Promise<void> {
    const limits = { limits: guess.limits, at: this.#options.now() }
    this.#refuse(guess, await this.#options.store.read(stored.guessRefusals, limits), limits.at)
  }

  /** Throws TOO_MANY_REQUESTS with the time to wait. */
  async begin(guess: Guess): Promise<Guess> {
    const limits = { limits: guess.limits, at: this.#options.now() }
    this.#refuse(guess, await this.#options.store.write(stored.reserveGuess, limits), limits.at)
    return guess
  }

  async succeed({ limits }: Guess): Promise<void> {
    await this.#options.store.write(stored.clearGuesses, { limits })
  }

  #refuse({ limits, kind, userId }: Guess, refusals: readonly GuessRefusal[], at: number): void {
    if (refusals.length === 0) return
    const delayed = refusals.find(({ key }) => key === limits[0]?.key)
    if (delayed !== undefined && userId !== null)
      this.#recordDelay({ userId, kind, until: delayed.notBefore }, at)
    const notBefore = Math.max(...refusals.map((refusal) => refusal.notBefore))
    const ofUser = userId === null ? 'Too many messages' : tooManyMails
    throw tooMany(kind === 'mail' ? ofUser : 'Too many wrong attempts', notBefore - at)
  }

  /** Once an hour, so no attacker fills the log. No caller waits: the time would reveal a user. */
  #recordDelay(
    { userId, kind, until }: { userId: string; kind: GuessKind; until: number },
    at: number,
  ): void {
    const account = `${userId} ${kind}`
    const last = this.#delaysRecordedAt.get(account)
    if (last !== undefined && at < last + hour) return
    this.#delaysRecordedAt.set(account, at, 1)
    const detail = { kind, until: iso(until) }
    const entry = auditEntry(serviceSource, { event: 'account-delayed', at, userId, detail })
    this.#options.store.write(record, [entry]).catch(() => this.#delaysRecordedAt.delete(account))
  }
}

async function reserve(
  { store, now }: Counting,
  rate: GuessRate,
  problem: string,
  more?: string,
): Promise<void> {
  const at = now()
  const [refusal] = await store.write(stored.reserveGuess, { limits: [rate], at })
  if (refusal !== undefined) throw tooMany(problem, refusal.notBefore - at, more)
}

function tooMany(problem: string, waitMs: number, more = ''): CarillonError {
  const retryAfter = Math.ceil(waitMs / 1_000)
  return new CarillonError('TOO_MANY_REQUESTS', problem, {
    remedy: `Try again in ${retryAfter} s.${more}`,
    retryAfter,
  })
}

// Limits a user's audit entries (L1). A change counts first; without effect it is taken back.

const changeLimit = { intervalMs: 60_000, burst: 60 }

/**
 * A stolen sign-in that is not fresh must not use up the limit of what needs a fresh one (`fresh`),
 * nor of the ways to end it (`defences`). A linked account must be unlinked before the next.
 */
const limited: Readonly<Partial<Record<EventName, 'changes' | 'fresh' | 'defences' | 'ends'>>> = {
  'user-changed': 'changes',
  'factor-added': 'fresh',
  'factor-removed': 'fresh',
  'recovery-codes-created': 'fresh',
  'provider-unlinked': 'fresh',
  confirmed: 'defences',
  'password-changed': 'defences',
  'session-ended': 'ends',
  'sessions-ended': 'fresh',
  'sign-in-disowned': 'fresh',
}

/** `store.write` then throws TOO_MANY_REQUESTS for changes beyond the limit. */
export function limitChanges(store: Store, now: () => number): void {
  const unrecorded = new Set<string>()
  store.onRecorded(async (entries) => {
    for (const { id } of entries) unrecorded.delete(id)
  })
  const write = store.write.bind(store)
  store.write = async (operation, input) => {
    const entry = limitedEntry(input)
    if (entry === undefined) return write(operation, input)
    const kind = (input as Audited | null)?.needsFresh ? 'fresh' : limited[entry.event as EventName]
    // Erasing the user removes it, like counts of guesses.
    const rate = { key: `${guessPrefixOf(entry.userId ?? '')}${kind}`, ...changeLimit }
    const more = ' Notifications can be read and marked meanwhile.'
    await reserve({ store, now }, rate, 'Too many changes of this account', more)
    unrecorded.add(entry.id)
    try {
      const result = await write(operation, input)
      if (unrecorded.has(entry.id)) await write(stored.clearGuesses, { limits: [rate] })
      return result
    } finally {
      unrecorded.delete(entry.id)
    }
  }
}

function limitedEntry(input: unknown): AuditEntry | undefined {
  const entries = Array.isArray(input)
    ? (input as AuditEntry[])
    : (input as Audited | null | undefined)?.audit
  return entries?.find(({ actor, event }) => actor === 'user' && Object.hasOwn(limited, event))
}
