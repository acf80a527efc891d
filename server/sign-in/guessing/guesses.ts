// How often may a secret be guessed? One place for everything that can be guessed (passwords, codes of second factors, links) and for
// both variants (A9, A10; docs/decisions/0039-limits-on-guesses.md). A guess is counted as a failure before it is evaluated, so that
// guesses at the same time cannot pass the limits together, and it is taken back if it was right.
import { CarillonError } from '../../errors.ts'
import { networkOfClient } from '../../ip-addresses.ts'
import type { GuessLimits, GuessRefusal, Store, User } from '../../store/store.ts'
import { recorded } from '../audit/entry.ts'
import type { Sealing } from '../sealing.ts'
import { findUser, type UserDependencies, type UserKey } from '../users/users.ts'
import type { DelayedAccounts } from './delayed-accounts.ts'

/**
 * Each kind has counts of its own: a right password must not allow more guesses of the code. The rate of an address is one for all, but
 * not for passkeys: nobody guesses one, so the wrong passwords of a network must not keep its users from theirs.
 */
export type GuessKind = 'password' | 'second-factor' | 'link' | 'mail' | 'passkey'

export type Guesser = {
  /** The id of the user; a prepared username that no user has; absent if the guess names no account. */
  account?: string | { unknownName: string }
  /** The client's address. IPv6 counts by /64. */
  address: string
  /** The id of a known device of this user. It is counted by itself, so that the guesses of others never delay it. */
  device?: string | undefined
}

/**
 * After five failures the next guess waits 1 s, then 2 s, 4 s and so on up to 1,024 s. A count ends 24 hours after its last failure. In
 * any 24 hours that allows 5 + 11 + 82 = 98 failures: at most 100 (NIST SP 800-63B-4, section 3.2.2).
 */
const free = 5
const guessDelaysMs = [...Array<number>(free).fill(0), ...Array.from({ length: 11 }, (_, n) => 1_000 * 2 ** n)]
const keptMs = 24 * 3_600_000
/** Of one address: 100 failures at once, and then 100 an hour, whichever accounts they name. */
const rateOfAddress = { intervalMs: 36_000, burst: 100 }

/**
 * Of a user and of an e-mail address: three mails are free, the next seven wait an hour each after the last one, and then it is a day. So no
 * more than three in any hour and ten in any 24 hours reach one inbox, whoever requests them.
 */
const mailDelaysMs = [...Array<number>(3).fill(0), ...Array<number>(7).fill(3_600_000), keptMs]
/** Of a client, for whichever users, and for names that no user has: ten at once, then ten an hour. */
const mailRateOfAddress = { intervalMs: 360_000, burst: 10 }

type GuessesOptions = {
  store: Pick<Store, 'guessRefusals' | 'reserveGuess' | 'clearGuesses' | 'removeOldGuesses'>
  /** For keyed hashes of names and addresses: the store keeps neither in clear text. */
  sealing: Pick<Sealing, 'mac'>
  delayedAccounts: Pick<DelayedAccounts, 'record'>
  now: () => number
}

const prefixOf = (userId: string) => `user ${userId} `

/**
 * Forgets every failure of the user, of every kind, from every address and on every device: no guess is delayed any more. Returns the
 * user, and if there were failures. Throws NOT_FOUND.
 */
export async function unlock(
  users: Pick<UserDependencies, 'now' | 'source'> & { store: Pick<Store, 'forgetGuesses'> & UserDependencies['store'] },
  key: UserKey,
): Promise<{ user: User; hadFailures: boolean }> {
  const user = await findUser(users, key)
  const entry = recorded(users, { event: 'account-unlocked', userId: user.id, username: user.username })
  const outcome = await users.store.forgetGuesses({ prefix: prefixOf(user.id), ...entry })
  return { user, hadFailures: outcome === 'done' }
}

export class Guesses {
  readonly #options: GuessesOptions

  constructor(options: GuessesOptions) {
    this.#options = options
  }

  /** Counts a guess as a failure. Throws TOO_MANY_REQUESTS, with the time to wait, if it must not be evaluated now. */
  async begin(guesser: Guesser, kind: GuessKind): Promise<Guess> {
    const guess = this.of(guesser, kind)
    await guess.begin()
    return guess
  }

  /**
   * Counts a request for a mail, by the address of the client alone: the count must not depend on whether there is such a user. Throws
   * TOO_MANY_REQUESTS.
   */
  async beginMailRequest(address: string): Promise<void> {
    const key = `mail ${this.#networkKey(address)}`
    await new Guess(this.#options, {
      keys: [],
      rate: { key, ...mailRateOfAddress },
      kind: 'mail',
      userId: null,
    }).begin()
  }

  /** Counts a mail to a user at an e-mail address, which users may share. Throws TOO_MANY_REQUESTS. */
  async beginMail({ userId, email }: { userId: string; email: string }): Promise<void> {
    const mailbox = `mailbox ${this.#hash(`mailbox ${email.toLowerCase()}`)}`
    const counted = { keys: [`${prefixOf(userId)}mail`, mailbox], rate: null, kind: 'mail' as const, userId }
    await new Guess(this.#options, { ...counted, delaysMs: mailDelaysMs }).begin()
  }

  /** A guess that has not begun: for one that waits for its turn before it is evaluated. */
  of({ account, address, device }: Guesser, kind: GuessKind): Guess {
    const network = this.#networkKey(address)
    const rate = { key: kind === 'passkey' ? `passkey ${network}` : network, ...rateOfAddress }
    if (account === undefined) return new Guess(this.#options, { keys: [], rate, kind, userId: null })
    const userId = typeof account === 'string' ? account : null
    const subject =
      typeof account === 'string' ? prefixOf(account) : `name ${this.#hash(`name ${account.unknownName}`)} `
    const all = `${subject}${kind}`
    if (device !== undefined)
      return new Guess(this.#options, { keys: [`${all} device ${device}`], rate: null, kind, userId })
    return new Guess(this.#options, { keys: [all, `${all} ${network}`], rate, kind, userId })
  }

  #hash(text: string): string {
    return this.#options.sealing.mac('guesses', text)
  }

  #networkKey(address: string): string {
    return `address ${this.#hash(`address ${networkOfClient(address)}`)}`
  }

  async removeOld(): Promise<void> {
    await this.#options.store.removeOldGuesses(this.#options.now())
  }
}

/** `keys`: the account, if there is one, first. */
type Counted = {
  keys: readonly string[]
  delaysMs?: readonly number[]
  rate: GuessLimits['rate']
  kind: GuessKind
  userId: string | null
}

export class Guess {
  readonly #options: GuessesOptions
  readonly #counted: Counted

  constructor(options: GuessesOptions, counted: Counted) {
    this.#options = options
    this.#counted = counted
  }

  /** Throws TOO_MANY_REQUESTS like `begin`, and counts nothing. */
  async refuseIfDelayed(): Promise<void> {
    const limits = this.#limits()
    this.#refuse(await this.#options.store.guessRefusals(limits), limits.at)
  }

  /** Counts the guess as a failure. Throws TOO_MANY_REQUESTS, with the time to wait, if it must not be evaluated now. */
  async begin(): Promise<void> {
    const limits = this.#limits()
    this.#refuse(await this.#options.store.reserveGuess(limits), limits.at)
  }

  /** The guess was right: it is no longer counted, and the failures of this account, and of it from this address, are forgotten. */
  async succeed(): Promise<void> {
    const { keys, rate } = this.#counted
    await this.#options.store.clearGuesses({ keys, rate })
  }

  #limits(): GuessLimits {
    const { keys, rate, delaysMs = guessDelaysMs } = this.#counted
    return { counts: { keys, delaysMs, keptMs }, rate, at: this.#options.now() }
  }

  #refuse(refusals: readonly GuessRefusal[], at: number): void {
    if (refusals.length === 0) return
    const { keys, kind, userId } = this.#counted
    const delayed = refusals.find(({ key }) => key === keys[0])
    if (delayed !== undefined && userId !== null)
      this.#options.delayedAccounts.record({ userId, kind, until: delayed.notBefore }, at)
    const seconds = Math.ceil((Math.max(...refusals.map(({ notBefore }) => notBefore)) - at) / 1_000)
    const remedy = `Try again in ${seconds} s.`
    throw new CarillonError('TOO_MANY_REQUESTS', 'Too many wrong attempts', { remedy, retryAfter: seconds })
  }
}
