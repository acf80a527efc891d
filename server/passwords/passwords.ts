// Hashes and verifies passwords with argon2id, a few at a time: each one occupies a thread of libuv's pool for 30 ms or more,
// and files and DNS need that pool too. The others wait in a short queue in which networks and accounts take turns.
import { type Client, groupsOf } from '../basics/client.ts'
import { CarillonError, overloaded, unavailable } from '../basics/errors.ts'
import { readHash } from './imported-hash.ts'

/** OWASP ASVS 5.0, 11.4.2: argon2id with t=2, m=19 MiB, p=1; the salt is 16 bytes, the result a PHC string. */
export const usualCost = { memoryCost: 19_456, timeCost: 2 }
const algorithm = { algorithm: 2, parallelism: 1, outputLen: 32 } as const

/** Native code, loaded for the first hash: 10 ms of a start that needs none. */
const argon2 = () =>
  import('@node-rs/argon2').catch((cause: unknown) => {
    const problem = `The package @node-rs/argon2 does not run on ${process.platform} on ${process.arch}`
    const remedy = 'If Carillon was copied from another machine, install it on this one.'
    throw unavailable(problem, remedy, cause)
  })

/** Code points. A longer password is refused before it is hashed, never truncated. */
export const maxPasswordLength = 256

/**
 * Returns the one form in which a password is hashed and compared: RFC 8265, section 4 (OpaqueString). A second call changes nothing. It
 * refuses nothing, so that a wrong password is only ever wrong.
 */
export function preparePassword(text: string): string {
  return text.replace(/\p{Zs}/gu, ' ').normalize('NFC')
}

/** Salt and hash of a random, unknown password. Verified for an unknown user, so that the response takes the same time. */
const unknownUserHash = '2xVo7B0E3Lerv+PMn0f7Iw$PxTJRLmiqL8uhxXXf7NY1ehvwpwq2FHzbBo36y4tEnM'

/** For the commands and the first start, which hash without a client. */
const operator: Attempt = { account: '' }
/** The wait is below the 9 s of late-writes.ts and the timeouts of proxies. With the delay, 200 connections that retry at once use a fifth of the processor time. */
const usualLimits = { maxWaiting: 64, maxWaitMs: 8_000, refusalDelayMs: 200 }

/** KiB of memory, and passes over them. */
export type HashCost = { memoryCost: number; timeCost: number }

export class Passwords {
  readonly #queue: HashQueue
  readonly #cost: HashCost & typeof algorithm
  /** The beginning of our hashes. Every other hash is one of another system, or ours with an earlier cost. */
  readonly #ownPrefix: string

  /** `threads`: the size of libuv's pool; two of them stay free for files and DNS. `cost`: lower in tests that are not about it. */
  constructor({ threads, cost = usualCost }: { threads: number; cost?: HashCost | undefined }) {
    this.#cost = { ...algorithm, ...cost }
    this.#ownPrefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${algorithm.parallelism}$`
    this.#queue = new HashQueue({ maxAtOnce: Math.max(1, threads - 2), ...usualLimits })
  }

  /** `password` as the client sent it. Throws UNAVAILABLE if too many wait already. */
  hash(password: string, attempt: Attempt = operator): Promise<string> {
    return this.#queue.run(attempt, async () => (await argon2()).hash(preparePassword(password), this.#cost))
  }

  /**
   * `passwordHash`: absent for an unknown user. `replacement`: our hash of the same password with today's cost, if it matched another one.
   * Throws UNAVAILABLE like `hash`, TIMEOUT if the client disconnects. `begin` is called at the turn; if it throws, nothing is hashed.
   */
  verify(password: string, passwordHash: string | undefined, attempt = operator, begin?: () => Promise<unknown>) {
    return this.#queue.run(attempt, async () => {
      await begin?.()
      const { hash, verify } = await argon2()
      const prepared = preparePassword(password)
      if (passwordHash === undefined || passwordHash.startsWith(this.#ownPrefix)) {
        const matches = await verify(passwordHash ?? `${this.#ownPrefix}${unknownUserHash}`, prepared)
        return { matches: matches && passwordHash !== undefined, replacement: null }
      }
      const matches = await readHash(passwordHash)(password, prepared)
      return { matches, replacement: matches ? await hash(prepared, this.#cost) : null }
    })
  }
}

// The queue. Neither many attempts from one network nor many addresses that attack one account can block the sign-in of others (A12). Known
// devices wait apart from all others, so that no flood of strangers keeps users out who signed in before (A21;
// docs/decisions/0039-limits-on-guesses.md).

/** `device`: one that was proved to be the user's. It has one place in the half of the known devices. */
export type Attempt = Client & { signal?: AbortSignal }

/** Places of one account in the half of the known devices. */
const maxKnownOfAccount = 2

/**
 * `maxWaiting`: at most three quarters of these places are for one half. `refusalDelayMs` delays each refusal, so that a client that
 * retries at once uses little processor time.
 */
export type Limits = { maxAtOnce: number; maxWaiting: number; maxWaitMs: number; refusalDelayMs: number }

export class HashQueue {
  readonly #limits: Limits
  readonly #known = new Turns()
  readonly #others = new Turns()
  #wasKnown = false
  #running = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get waiting(): number {
    return this.#known.waiting.size + this.#others.waiting.size
  }

  /**
   * A full queue throws UNAVAILABLE for the oldest attempt of the largest group of the half that is further above a quarter of the places,
   * if both are equal of the others. Throws UNAVAILABLE after `maxWaitMs`, too, and TIMEOUT if `signal` aborts before `work` begins.
   */
  async run<Result>(attempt: Attempt, work: () => Promise<Result>): Promise<Result> {
    if (attempt.signal?.aborted) throw clientLeft()
    if (this.#running < this.#limits.maxAtOnce) this.#running++
    else await this.#wait(attempt)
    try {
      return await work()
    } finally {
      this.#startNext()
    }
  }

  async #wait(attempt: Attempt): Promise<void> {
    const { signal } = attempt
    const turns = this.#hasKnownPlace(attempt) ? this.#known : this.#others
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = turns.add(attempt, { start: resolve, refuse: reject })
    this.#refuseBeyondLimits()
    const refuse = (error: CarillonError) => turns.waiting.delete(waiter) && reject(error)
    const leave = () => refuse(clientLeft())
    signal?.addEventListener('abort', leave)
    const timer = setTimeout(() => refuse(tooMany()), this.#limits.maxWaitMs).unref()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
    }
  }

  /** A user with many devices takes no more of these places than one with two. */
  #hasKnownPlace({ account, device }: Attempt): boolean {
    if (device === undefined) return false
    const ofAccount = [...this.#known.waiting].filter(({ attempt }) => attempt.account === account)
    const isWaiting = ofAccount.some(({ attempt }) => attempt.device === device)
    return !isWaiting && ofAccount.length < maxKnownOfAccount
  }

  #refuseBeyondLimits(): void {
    const { maxWaiting, refusalDelayMs: delayMs } = this.#limits
    const isKnownFuller = this.#known.waiting.size > this.#others.waiting.size
    const fuller = isKnownFuller ? this.#known : this.#others
    const isFull = this.waiting > maxWaiting || fuller.waiting.size > maxWaiting - Math.floor(maxWaiting / 4)
    const refused = isFull ? fuller.takeFromLargest() : undefined
    if (delayMs === 0) refused?.refuse(tooMany())
    else if (refused !== undefined) setTimeout(() => refused.refuse(tooMany()), delayMs)
  }

  /** Every second turn is that of a known device, if one waits. */
  #startNext(): void {
    const [one, other] = this.#wasKnown ? [this.#others, this.#known] : [this.#known, this.#others]
    const turns = one.waiting.size > 0 ? one : other
    const next = turns.takeNext()
    this.#wasKnown = next !== undefined && turns === this.#known
    if (next === undefined) this.#running--
    else next.start()
  }
}

const tooMany = () => overloaded('Too many sign-ins at once')

/** No client receives it; the code keeps it out of the logged failures. */
function clientLeft(): CarillonError {
  return new CarillonError('TIMEOUT', 'The client closed the connection before its password was checked')
}

/** A /64, its /56 and its /48 (three times the same for an IPv4 address), the account of the attempt, and the pair of /48 and account. */
type Names = readonly [narrow: string, middle: string, wide: string, account: string, pair: string]
type Waiter = { attempt: Attempt; names: Names; at: number; start: () => void; refuse: (error: Error) => void }

/** The waiting attempts of one kind, in the order of their arrival. The networks of clients and the accounts take turns. */
class Turns {
  readonly waiting = new Set<Waiter>()
  /** When an attempt of each name last began, as a number of events, not as a time. */
  readonly #servedAt = new Map<string, number>()
  #events = 0

  add(attempt: Attempt, ends: Pick<Waiter, 'start' | 'refuse'>): Waiter {
    const { networks, account, pair } = groupsOf(attempt)
    const [narrow, middle = narrow, wide = narrow] = networks
    const names: Names = [narrow, middle, wide, account, pair]
    const waiter = { attempt, names, at: ++this.#events, ...ends }
    this.waiting.add(waiter)
    return waiter
  }

  // Round robin. It counts when the /48 or the account was last served, whichever is later. Among attempts of one account, the /48 that was
  // served longer ago runs first; within a /48 its parts take turns, and within them the accounts.
  takeNext(): Waiter | undefined {
    const next = this.#takeLowest((name, waiter) => Math.max(waiter.at, this.#servedAt.get(name) ?? 0), Math.max)
    if (next === undefined) return undefined
    const at = ++this.#events
    for (const name of next.names) this.#servedAt.set(name, at)
    // What began before the oldest of those that wait arrived decides nothing.
    const [oldest = { at: Number.POSITIVE_INFINITY }] = this.waiting
    for (const [name, servedAt] of this.#servedAt) if (servedAt < oldest.at) this.#servedAt.delete(name)
    return next
  }

  // Removes the oldest of the /64 with the most attempts, in the /56 with the most, in the /48 with the most; or of the account
  // for which the most /48 wait. If an account counted attempts, one network could get those of others refused.
  takeFromLargest(): Waiter | undefined {
    const sizes = new Map<string, number>()
    for (const { names } of this.waiting) {
      const [narrow, middle, wide, , pair] = names
      const grown = sizes.has(pair) ? [narrow, middle, wide] : names
      for (const name of new Set(grown)) sizes.set(name, (sizes.get(name) ?? 0) + 1)
    }
    return this.#takeLowest((name) => -(sizes.get(name) ?? 0), Math.min)
  }

  /** Removes the attempt with the lowest rank: the first number that differs decides. `either`: what counts of a /48 and an account. */
  #takeLowest(rankBy: (name: string, waiter: Waiter) => number, either: typeof Math.max): Waiter | undefined {
    const ranked = Array.from(this.waiting, (waiter) => {
      const [narrow = 0, middle = 0, wide = 0, account = 0, pair = 0] = waiter.names.map((name) => rankBy(name, waiter))
      return { waiter, rank: [either(wide, account), wide, middle, narrow, pair, waiter.at] }
    })
    const [lowest] = ranked.sort((a, b) => {
      const differs = a.rank.findIndex((number, i) => number !== b.rank[i])
      return (a.rank[differs] ?? 0) - (b.rank[differs] ?? 0)
    })
    if (lowest !== undefined) this.waiting.delete(lowest.waiter)
    return lowest?.waiter
  }
}
