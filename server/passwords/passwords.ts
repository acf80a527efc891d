// Hashes passwords with argon2id, a few at a time: each takes 30 ms of a thread of libuv's pool,
// which files and DNS need. Others wait in a short queue, in which networks and accounts take
// turns.

import { CarillonError, overloaded, unavailable } from '../basics/errors.ts'
import { type Client, groupsOf } from '../basics/ip-addresses.ts'
import { readHash } from './imported-hash.ts'

/** OWASP ASVS 5.0, 11.4.2: t=2, m=19 MiB, p=1; a salt of 16 bytes, a PHC string. */
export const usualCost = { memoryCost: 19_456, timeCost: 2 }
const algorithm = { algorithm: 2, parallelism: 1, outputLen: 32 } as const

/** Loading native code would add 10 ms to a start. */
const argon2 = () =>
  import('@node-rs/argon2').catch((cause: unknown) => {
    const problem = `The package @node-rs/argon2 does not run on ${process.platform} on ${process.arch}`
    const remedy = 'If Carillon was copied from another machine, install it on this one.'
    throw unavailable(problem, remedy, cause)
  })

/** Longer ones are refused, never truncated. */
export const maxPasswordLength = 256

/** RFC 8265, section 4 (OpaqueString). It refuses nothing: a wrong password is only wrong. */
export function preparePassword(text: string): string {
  return text.replace(/\p{Zs}/gu, ' ').normalize('NFC')
}

/** Verified for an unknown user, so that the response takes the same time. */
const unknownUserHash = '2xVo7B0E3Lerv+PMn0f7Iw$PxTJRLmiqL8uhxXXf7NY1ehvwpwq2FHzbBo36y4tEnM'

const operator: Attempt = { account: '' }
/** Below the 9 s of late-writes.ts. With the delay, 200 retrying connections use 20 % of a CPU. */
const usualLimits = { maxWaiting: 64, maxWaitMs: 8_000, refusalDelayMs: 200 }

/** KiB, and passes. */
export type HashCost = { memoryCost: number; timeCost: number }

export class Passwords {
  readonly #queue: HashQueue
  readonly #cost: HashCost & typeof algorithm
  readonly #ownPrefix: string

  /** Leaves two of libuv's threads to files and DNS. */
  constructor({ threads, cost = usualCost }: { threads: number; cost?: HashCost | undefined }) {
    this.#cost = { ...algorithm, ...cost }
    this.#ownPrefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${algorithm.parallelism}$`
    this.#queue = new HashQueue({ maxAtOnce: Math.max(1, threads - 2), ...usualLimits })
  }

  get waiting(): number {
    return this.#queue.waiting
  }

  hash(password: string, attempt: Attempt = operator): Promise<string> {
    return this.#queue.run(attempt, async () =>
      (await argon2()).hash(preparePassword(password), this.#cost),
    )
  }

  /**
   * `replacement`: today's hash if another matched. Hashes nothing if `begin` throws. Throws
   * UNAVAILABLE, and TIMEOUT if the client disconnects.
   */
  verify(
    password: string,
    passwordHash: string | undefined,
    attempt = operator,
    begin?: () => Promise<unknown>,
  ) {
    return this.#queue.run(attempt, async () => {
      await begin?.()
      const { hash, verify } = await argon2()
      const prepared = preparePassword(password)
      if (passwordHash === undefined || passwordHash.startsWith(this.#ownPrefix)) {
        const matches = await verify(
          passwordHash ?? `${this.#ownPrefix}${unknownUserHash}`,
          prepared,
        )
        return { matches: matches && passwordHash !== undefined, replacement: null }
      }
      const matches = await readHash(passwordHash)(password, prepared)
      return { matches, replacement: matches ? await hash(prepared, this.#cost) : null }
    })
  }
}

// Neither one network nor many addresses against one account block others (A12). Known devices wait
// apart, so that no flood keeps them out (A21; docs/decisions/0039-limits-on-guesses.md).

/** The client has proved that `device` is the user's. */
export type Attempt = Client & { signal?: AbortSignal }

/** One account has at most so many of the places for known devices. */
const maxKnownOfAccount = 2

/** `refusalDelayMs` makes immediate retries cheap. */
export type Limits = {
  maxAtOnce: number
  maxWaiting: number
  maxWaitMs: number
  refusalDelayMs: number
}

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
   * A full queue refuses the largest group's oldest attempt, in the half of the queue further above
   * a quarter of the places; if equal, not of known devices. Throws UNAVAILABLE, and TIMEOUT if
   * `signal` aborts.
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

  /** Many devices take only two places. */
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
    const isFull =
      this.waiting > maxWaiting || fuller.waiting.size > maxWaiting - Math.floor(maxWaiting / 4)
    const refused = isFull ? fuller.takeFromLargest() : undefined
    if (delayMs === 0) refused?.refuse(tooMany())
    else if (refused !== undefined) setTimeout(() => refused.refuse(tooMany()), delayMs)
  }

  /** Every second turn is a known device's, if one waits. */
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

/** The code keeps it out of the logged failures. */
function clientLeft(): CarillonError {
  return new CarillonError(
    'TIMEOUT',
    'The client closed the connection before its password was checked',
  )
}

/** An IPv4 address counts as /64, /56 and /48. */
type Names = readonly [narrow: string, middle: string, wide: string, account: string, pair: string]
type Waiter = {
  attempt: Attempt
  names: Names
  at: number
  start: () => void
  refuse: (error: Error) => void
}

class Turns {
  readonly waiting = new Set<Waiter>()
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

  // Round robin: what counts is the last turn of the /48 or the account, whichever is later; in a
  // /48 parts take turns, then accounts.
  takeNext(): Waiter | undefined {
    const next = this.#takeLowest(
      (name, waiter) => Math.max(waiter.at, this.#servedAt.get(name) ?? 0),
      Math.max,
    )
    if (next === undefined) return undefined
    const at = ++this.#events
    for (const name of next.names) this.#servedAt.set(name, at)
    const [oldest = { at: Number.POSITIVE_INFINITY }] = this.waiting
    for (const [name, servedAt] of this.#servedAt)
      if (servedAt < oldest.at) this.#servedAt.delete(name)
    return next
  }

  // Removes the oldest attempt of the largest network, or of the account for which the most /48
  // wait. If it counted the attempts for an account, one network could get others refused.
  takeFromLargest(): Waiter | undefined {
    const sizes = new Map<string, number>()
    for (const { names } of this.waiting) {
      const [narrow, middle, wide, , pair] = names
      const grown = sizes.has(pair) ? [narrow, middle, wide] : names
      for (const name of new Set(grown)) sizes.set(name, (sizes.get(name) ?? 0) + 1)
    }
    return this.#takeLowest((name) => -(sizes.get(name) ?? 0), Math.min)
  }

  #takeLowest(
    rankBy: (name: string, waiter: Waiter) => number,
    either: typeof Math.max,
  ): Waiter | undefined {
    const ranked = Array.from(this.waiting, (waiter) => {
      const [narrow = 0, middle = 0, wide = 0, account = 0, pair = 0] = waiter.names.map((name) =>
        rankBy(name, waiter),
      )
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
