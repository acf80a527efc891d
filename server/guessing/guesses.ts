// How often may a password, a code of a second factor or a link be guessed (A9, A10; decision 0039)? A guess is counted as a failure
// before it is evaluated, so that guesses at the same time cannot pass the limits together, and is taken back if it was right.
import { recordAudit } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import type { EventName } from '../audit/events.ts'
import { BoundedCache } from '../basics/bounded-cache.ts'
import { type Client, networksOf, wideNetworkOf } from '../basics/client.ts'
import { iso } from '../basics/clock.ts'
import { CarillonError } from '../basics/errors.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { AuditEntry, Audited } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import type { GuessLimit, GuessRate, GuessRefusal } from './guesses.store.ts'
import * as stored from './guesses.store.ts'

/** Each kind has its own counts: a right password allows no more guesses of the code. All but passkeys share the rate of an address. */
type GuessKind = 'password' | 'second-factor' | 'link' | 'mail' | 'passkey'

export type Guesser = Omit<Client, 'account'> & {
  /** The id of the user; a prepared username that no user has; absent if the guess names no account. */
  account?: string | { unknownName: string }
  /** The id of a known device of this user, or of a sign-in. It is counted by itself, so that the guesses of others never delay it. */
  device?: string | undefined
}

/**
 * After five failures the next guess waits 1 s, then 2 s, 4 s and so on up to 1,024 s. A count ends 24 hours after its last failure. In
 * any 24 hours that allows 5 + 11 + 82 = 98 failures: at most 100 (NIST SP 800-63B-4, section 3.2.2).
 */
const guessDelaysMs = [0, 0, 0, 0, 0, ...Array.from({ length: 11 }, (_, n) => 1_000 * 2 ** n)]
const keptMs = 24 * 3_600_000
const countOf = (key: string): GuessLimit => ({ key, delaysMs: guessDelaysMs, keptMs })
/** One address: 100 failures at once, then 100 an hour, for all accounts. A /56 of IPv6 has four times that, a /48 sixteen times. */
const rateOfAddress = { intervalMs: 36_000, burst: 100 }

/**
 * The limits of a user and of an e-mail address: at most three mails at once and then one an hour, and at most ten in 24 hours, from
 * all clients together. One client (IPv6 by /48) causes less than that for a user, so that mails of a stranger leave some for the owner.
 */
const hour = 3_600_000
const day = keptMs
const mailLimits = [
  { name: 'hour', intervalMs: hour, burst: 3, burstOfClient: 2 },
  { name: 'day', intervalMs: day, burst: 10, burstOfClient: 5 },
]
/** The limit of a user and of an address: five mails about changes of an account, and then one an hour. */
const noticeLimit = { intervalMs: hour, burst: 5 }
const testLimit = { intervalMs: hour, burst: 10 }
/** Of a client, for whichever users, and for names that no user has: ten at once, then ten an hour. */
const mailRateOfAddress = { intervalMs: 360_000, burst: 10 }

/** Of one account from one client (IPv6 by /48): 60 right sign-ins at once, and then one in ten seconds, because each is kept in the audit log. */
const signInRate = { intervalMs: 10_000, burst: 60 }
/** A one-time link signs in without a limit: it works once, and is the way in of an owner whose other ways are used up. */
type LimitedMethod = 'password' | 'passkey' | 'provider'

type Counting = { store: Store; now: () => number }
type Options = Counting & { sealing: Pick<Sealing, 'mac'> }

/** A guess or a mail to count. `limits`: that of the account first, if there is one. */
export type Guess = { limits: readonly GuessLimit[]; kind: GuessKind; userId: string | null }

/** What the keys of the guesses of a user begin with. */
export const guessPrefixOf = (userId: string) => `user ${userId} `

export class Guesses {
  readonly #options: Options
  /** When the audit log got the last entry about a delayed account, by user and kind. */
  readonly #delaysRecordedAt = new BoundedCache<number>(10_000)
  /** Each request for a mail counts for the interval of its network's rate. For each network: the time at which none counts any more. */
  readonly #mailsUntil = new BoundedCache<number>(10_000)

  constructor(options: Options) {
    this.#options = options
  }

  /** Counts a request for a mail in this process, before it waits. False if the client has made too many. */
  acceptsMailRequest(address: string): boolean {
    const at = this.#options.now()
    const counts = this.#ratesOf(address, mailRateOfAddress, '').map(({ key, intervalMs, burst }) => {
      const until = Math.max(this.#mailsUntil.get(key) ?? 0, at) + intervalMs
      return { key, until, isTooMany: until > at + burst * intervalMs }
    })
    if (counts.some(({ isTooMany }) => isTooMany)) return false
    for (const { key, until } of counts) this.#mailsUntil.set(key, until, 1)
    return true
  }

  /** Counts a request for a mail, by the client alone: no count may show whether there is such a user. Throws TOO_MANY_REQUESTS. */
  beginMailRequest(address: string): Promise<Guess> {
    return this.begin({ limits: this.#ratesOf(address, mailRateOfAddress, 'mail '), kind: 'mail', userId: null })
  }

  /** Counts a mail to a user at an e-mail address, which users may share. Throws TOO_MANY_REQUESTS. */
  beginMail({ userId, email, address }: { userId: string; email: string; address: string }): Promise<Guess> {
    const mailbox = this.#keyOf('mailbox', email.toLowerCase())
    const ofUser = `${guessPrefixOf(userId)}mail`
    const ofClient = `${ofUser} ${this.#wideKey(address)}`
    const limits = mailLimits.flatMap(({ name, intervalMs, burst, burstOfClient }) => [
      ...[ofUser, mailbox].map((key) => ({ key: `${key} ${name}`, intervalMs, burst })),
      { key: `${ofClient} ${name}`, intervalMs, burst: burstOfClient },
    ])
    return this.begin({ limits, kind: 'mail', userId })
  }

  /** Counts a mail about changes of a user's account, by user and by address, which users may share. Throws TOO_MANY_REQUESTS. */
  async beginNoticeMail({ userId, to }: { userId: string; to: string }): Promise<void> {
    const keys = [`${guessPrefixOf(userId)}notice`, `${this.#keyOf('mailbox', to.toLowerCase())} notice`]
    const limits = keys.map((key) => ({ key, ...noticeLimit }))
    // Not as the user's: this is no guess, which the audit log would show.
    await this.begin({ limits, kind: 'mail', userId: null })
  }

  /** Counts a notification that a user sends to try the service. Throws TOO_MANY_REQUESTS. */
  async beginTestNotification(userId: string): Promise<void> {
    await reserve(this.#options, { key: `${guessPrefixOf(userId)}test`, ...testLimit }, 'Too many messages')
  }

  /** Counts a sign-in whose proof was right, before anything is written. Each method has a count of its own. Throws TOO_MANY_REQUESTS. */
  async beginSignIn({ userId, address }: { userId: string; address: string }, method: LimitedMethod): Promise<void> {
    const key = `${guessPrefixOf(userId)}sign-in ${method} ${this.#wideKey(address)}`
    const more = ' A program signs in once, and keeps its session or token.'
    await reserve(this.#options, { key, ...signInRate }, 'Too many sign-ins to this account from your network', more)
  }

  /** Counts a password that a signed-in user presents, right or wrong, before it is hashed. Throws TOO_MANY_REQUESTS. */
  async beginConfirmation(userId: string): Promise<void> {
    const key = `${guessPrefixOf(userId)}sign-in confirmation`
    await reserve(this.#options, { key, ...signInRate }, 'Too many confirmations of this account')
  }

  /** A guess that has not begun. */
  of({ account, address, device }: Guesser, kind: GuessKind): Guess {
    const rates =
      address === undefined ? [] : this.#ratesOf(address, rateOfAddress, kind === 'passkey' ? 'passkey ' : '')
    if (account === undefined) return { limits: rates, kind, userId: null }
    const isUser = typeof account === 'string'
    const all = (isUser ? guessPrefixOf(account) : `${this.#keyOf('name', account.unknownName)} `) + kind
    const ofNetwork = address === undefined ? [] : [countOf(`${all} ${this.#networkKeys(address)[0]}`)]
    const ofStranger = [countOf(all), ...ofNetwork, ...rates]
    const limits = device === undefined ? ofStranger : [countOf(`${all} device ${device}`)]
    return { limits, kind, userId: isUser ? account : null }
  }

  /** After a link set the password of the user: guesses of the one before say nothing of it. Those of a second factor still count. */
  async forgetPasswordGuesses(userId: string): Promise<void> {
    await this.#options.store.write(stored.forgetGuesses, { prefix: `${guessPrefixOf(userId)}password` })
  }

  /** After a passkey, which proves more than a password and a code: forgets the guesses of strangers, and not those on known devices. */
  async forgetStrangers(userId: string): Promise<void> {
    const { store } = this.#options
    const counts = ['password', 'second-factor'].map((kind) => guessPrefixOf(userId) + kind)
    await store.write(stored.clearGuesses, { limits: counts.map(countOf) })
    for (const count of counts) await store.write(stored.forgetGuesses, { prefix: `${count} address ` })
  }

  /** A key with a keyed hash: the store keeps neither names nor addresses in clear text. */
  #keyOf(what: 'name' | 'mailbox' | 'address', text: string): string {
    return `${what} ${this.#options.sealing.mac('guesses', `${what} ${text}`)}`
  }

  /** The keys of the client's networks, from narrow to wide. */
  #networkKeys(address: string): string[] {
    return networksOf(address).map((network) => this.#keyOf('address', network))
  }

  #wideKey(address: string): string {
    return this.#keyOf('address', wideNetworkOf(address))
  }

  #ratesOf(address: string, { intervalMs, burst }: Omit<GuessRate, 'key'>, prefix: string): GuessRate[] {
    return this.#networkKeys(address).map((key, n) => {
      const times = 4 ** n
      return { key: prefix + key, intervalMs: intervalMs / times, burst: burst * times }
    })
  }

  async removeOld(): Promise<void> {
    const { store, now } = this.#options
    let removed = 1
    while (removed > 0) removed = await store.write(stored.removeOldGuesses, now())
  }

  /** Throws TOO_MANY_REQUESTS like `begin`, and counts nothing. */
  async refuseIfDelayed(guess: Guess): Promise<void> {
    const limits = { limits: guess.limits, at: this.#options.now() }
    this.#refuse(guess, await this.#options.store.read(stored.guessRefusals, limits), limits.at)
  }

  /** Counts the guess as a failure. Throws TOO_MANY_REQUESTS, with the time to wait, if it must not be evaluated now. */
  async begin(guess: Guess): Promise<Guess> {
    const limits = { limits: guess.limits, at: this.#options.now() }
    this.#refuse(guess, await this.#options.store.write(stored.reserveGuess, limits), limits.at)
    return guess
  }

  /** The guess was right, or the mail was not sent: takes it back, and forgets the failures of the account, and those from this address. */
  async succeed({ limits }: Guess): Promise<void> {
    await this.#options.store.write(stored.clearGuesses, { limits })
  }

  #refuse({ limits, kind, userId }: Guess, refusals: readonly GuessRefusal[], at: number): void {
    if (refusals.length === 0) return
    const delayed = refusals.find(({ key }) => key === limits[0]?.key)
    if (delayed !== undefined && userId !== null) this.#recordDelay({ userId, kind, until: delayed.notBefore }, at)
    const notBefore = Math.max(...refusals.map((refusal) => refusal.notBefore))
    throw tooMany(kind === 'mail' ? 'Too many messages' : 'Too many wrong attempts', notBefore - at)
  }

  /** Records one refusal an hour on each node: no attacker fills the log. Not awaited: the time would show that there is such a user. */
  #recordDelay({ userId, kind, until }: { userId: string; kind: GuessKind; until: number }, at: number): void {
    const account = `${userId} ${kind}`
    const last = this.#delaysRecordedAt.get(account)
    if (last !== undefined && at < last + hour) return
    this.#delaysRecordedAt.set(account, at, 1)
    const detail = { kind, until: iso(until) }
    const entry = auditEntry(serviceSource, { event: 'account-delayed', at, userId, detail })
    // A store that fails says so at every other request.
    this.#options.store.write(recordAudit, [entry]).catch(() => this.#delaysRecordedAt.delete(account))
  }
}

/** Counts an act that is no guess under one rate. Throws TOO_MANY_REQUESTS. */
async function reserve({ store, now }: Counting, rate: GuessRate, problem: string, more?: string): Promise<void> {
  const at = now()
  const [refusal] = await store.write(stored.reserveGuess, { limits: [rate], at })
  if (refusal !== undefined) throw tooMany(problem, refusal.notBefore - at, more)
}

function tooMany(problem: string, waitMs: number, more = ''): CarillonError {
  const retryAfter = Math.ceil(waitMs / 1_000)
  return new CarillonError('TOO_MANY_REQUESTS', problem, { remedy: `Try again in ${retryAfter} s.${more}`, retryAfter })
}

// How many entries of the audit log can a signed-in user cause (L1)? A change is counted in the store before it is made, so
// that all nodes share the count, and taken back if it had no effect.

const changeLimit = { intervalMs: 60_000, burst: 60 }

/**
 * Each kind has a count of its own. A stolen sign-in that is not fresh must not use up what needs a fresh one (`fresh`). No stolen sign-in
 * may use up the acts by which its owner ends it, which need a password or a factor (`defences`). Sign-ins have counts of their own
 * (`beginSignIn`), and a sign-out needs a sign-in. A link to a provider must be unlinked before the next one.
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

/** From then on `store.write` makes no change by a user beyond the limit, and throws TOO_MANY_REQUESTS. */
export function limitChanges(store: Store, now: () => number): void {
  /** The ids of the entries of changes in progress. */
  const unrecorded = new Set<string>()
  store.onRecorded(async (entries) => {
    for (const { id } of entries) unrecorded.delete(id)
  })
  const write = store.write.bind(store)
  store.write = async (operation, input) => {
    const entry = limitedEntry(input)
    if (entry === undefined) return write(operation, input)
    const kind = (input as Audited | null)?.needsFresh ? 'fresh' : limited[entry.event as EventName]
    // It ends with the user, as the counts of guesses do.
    const rate = { key: `${guessPrefixOf(entry.userId ?? '')}${kind}`, ...changeLimit }
    const more = ' Notifications can be read and marked meanwhile.'
    await reserve({ store, now }, rate, 'Too many changes of this account', more)
    unrecorded.add(entry.id)
    try {
      const result = await write(operation, input)
      // The change had no effect.
      if (unrecorded.has(entry.id)) await write(stored.clearGuesses, { limits: [rate] })
      return result
    } finally {
      unrecorded.delete(entry.id)
    }
  }
}

/** The entry because of which a change is limited; undefined if it is not. */
function limitedEntry(input: unknown): AuditEntry | undefined {
  const entries = Array.isArray(input) ? (input as AuditEntry[]) : (input as Audited | null | undefined)?.audit
  return entries?.find(({ actor, event }) => actor === 'user' && Object.hasOwn(limited, event))
}
