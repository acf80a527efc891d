// How often may a secret be guessed? One place for everything that can be guessed (passwords, codes of second factors, links) and for
// both variants (A9, A10; docs/decisions/0039-limits-on-guesses.md). A guess is counted as a failure before it is evaluated, so that
// guesses at the same time cannot pass the limits together, and it is taken back if it was right.
import { CarillonError } from '../../errors.ts'
import { networkOfClient } from '../../ip-addresses.ts'
import type { GuessLimits, GuessRefusal, Store } from '../../store/store.ts'
import type { Sealing } from '../sealing.ts'

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
const delaysMs = [...Array<number>(free).fill(0), ...Array.from({ length: 11 }, (_, n) => 1_000 * 2 ** n)]
const keptMs = 24 * 3_600_000
/** Of one address: 100 failures at once, and then 100 an hour, whichever accounts they name. */
const rateOfAddress = { intervalMs: 36_000, burst: 100 }

type GuessesOptions = {
  store: Pick<Store, 'guessRefusals' | 'reserveGuess' | 'clearGuesses' | 'removeGuesses' | 'removeOldGuesses'>
  /** For keyed hashes of names and addresses: the store keeps neither in clear text. */
  sealing: Pick<Sealing, 'mac'>
  now: () => number
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

  /** A guess that has not begun: for one that waits for its turn before it is evaluated. */
  of({ account, address, device }: Guesser, kind: GuessKind): Guess {
    const hash = (text: string) => this.#options.sealing.mac('guesses', text)
    const subject = typeof account === 'object' ? `name ${hash(`name ${account.unknownName}`)}` : `user ${account}`
    const all = `${subject} ${kind}`
    if (device !== undefined) return new Guess(this.#options, [`${all} device ${device}`], null)
    const network = `address ${hash(`address ${networkOfClient(address)}`)}`
    const keys = account === undefined ? [] : [all, `${all} ${network}`]
    return new Guess(this.#options, keys, {
      key: kind === 'passkey' ? `passkey ${network}` : network,
      ...rateOfAddress,
    })
  }

  /** Ends every delay of the user's account, of every kind. Returns whether there were failures. */
  async unlock(userId: string): Promise<boolean> {
    return (await this.#options.store.removeGuesses(`user ${userId} `)) > 0
  }

  async removeOld(): Promise<void> {
    await this.#options.store.removeOldGuesses(this.#options.now())
  }
}

export class Guess {
  readonly #options: GuessesOptions
  readonly #counts: GuessLimits['counts']
  readonly #rate: GuessLimits['rate']

  constructor(options: GuessesOptions, keys: readonly string[], rate: GuessLimits['rate']) {
    this.#options = options
    this.#counts = { keys, delaysMs, keptMs }
    this.#rate = rate
  }

  /** Throws TOO_MANY_REQUESTS like `begin`, and counts nothing. */
  async refuseIfDelayed(): Promise<void> {
    const limits = this.#limits()
    refuse(await this.#options.store.guessRefusals(limits), limits.at)
  }

  /** Counts the guess as a failure. Throws TOO_MANY_REQUESTS, with the time to wait, if it must not be evaluated now. */
  async begin(): Promise<void> {
    const limits = this.#limits()
    refuse(await this.#options.store.reserveGuess(limits), limits.at)
  }

  /** The guess was right: it is no longer counted, and the failures of this account, and of it from this address, are forgotten. */
  async succeed(): Promise<void> {
    await this.#options.store.clearGuesses({ keys: this.#counts.keys, rate: this.#rate })
  }

  #limits(): GuessLimits {
    return { counts: this.#counts, rate: this.#rate, at: this.#options.now() }
  }
}

function refuse(refusals: readonly GuessRefusal[], at: number): void {
  if (refusals.length === 0) return
  const seconds = Math.ceil((Math.max(...refusals.map(({ notBefore }) => notBefore)) - at) / 1_000)
  const remedy = `Try again in ${seconds} s.`
  throw new CarillonError('TOO_MANY_REQUESTS', 'Too many wrong attempts', { remedy, retryAfter: seconds })
}
