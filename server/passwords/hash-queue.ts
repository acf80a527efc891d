// A bounded queue of password hashes in which networks and accounts take turns. Neither many attempts from one network nor many addresses
// that attack one account can block the sign-in of others (A12). Known devices wait apart from all others, so that no
// flood of strangers keeps users out who signed in before (A21; docs/decisions/0039-limits-on-guesses.md).
import { CarillonError, overloaded } from '../basics/errors.ts'
import { networksOfClient } from '../basics/ip-addresses.ts'

/**
 * `address`: the client's. `account`: the username of the attempt, whether such a user exists or not. `known`: what proves that the
 * account's user was here before, a valid device token of this user or a valid one-time link. It has one place among the known devices.
 */
export type Attempt = { address: string; account: string; known?: string | undefined; signal?: AbortSignal }

/** `refusalDelayMs` delays each refusal, so that a client that retries at once uses little processor time. */
export type Limits = { maxAtOnce: number; maxWaiting: number; maxWaitMs: number; refusalDelayMs: number }

export class HashQueue {
  readonly #limits: Limits
  readonly #known = new Turns()
  readonly #others = new Turns()
  readonly #knownNow = new Set<string>()
  #wasKnown = false
  #running = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get waiting(): number {
    return this.#known.waiting + this.#others.waiting
  }

  /**
   * A full queue throws UNAVAILABLE for the oldest attempt of the largest group, and for one of a known device last. A quarter of the places
   * is for known devices alone. Throws UNAVAILABLE after `maxWaitMs`, too, and TIMEOUT if `signal` aborts before `work` begins.
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
    const { known, signal } = attempt
    const isKnown = known !== undefined && !this.#knownNow.has(known)
    const turns = isKnown ? this.#known : this.#others
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = turns.add(attempt, { start: resolve, refuse: reject })
    if (isKnown) this.#knownNow.add(known)
    this.#refuseBeyondLimits()
    const refuse = (error: CarillonError) => turns.remove(waiter) && reject(error)
    const leave = () => refuse(clientLeft())
    signal?.addEventListener('abort', leave)
    const timer = setTimeout(() => refuse(tooMany()), this.#limits.maxWaitMs).unref()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
      if (isKnown) this.#knownNow.delete(known)
    }
  }

  #refuseBeyondLimits(): void {
    const { maxWaiting, refusalDelayMs } = this.#limits
    const isFull = this.waiting > maxWaiting || this.#others.waiting > maxWaiting - Math.floor(maxWaiting / 4)
    const refused = isFull ? (this.#others.takeFromLargest() ?? this.#known.takeFromLargest()) : undefined
    if (refusalDelayMs === 0) refused?.refuse(tooMany())
    else if (refused !== undefined) setTimeout(() => refused.refuse(tooMany()), refusalDelayMs)
  }

  /** Every second turn is that of a known device, if one waits. */
  #startNext(): void {
    const [one, other] = this.#wasKnown ? [this.#others, this.#known] : [this.#known, this.#others]
    const turns = one.waiting > 0 ? one : other
    const next = turns.takeNext()
    this.#wasKnown = next !== undefined && turns === this.#known
    if (next === undefined) this.#running--
    else next.start()
  }
}

function tooMany(): CarillonError {
  return overloaded('Too many sign-ins at once')
}

/** No client receives it; the code keeps it out of the logged failures. */
function clientLeft(): CarillonError {
  return new CarillonError('TIMEOUT', 'The client closed the connection before its password was checked')
}

/** `networks`: a /64, its /56 and its /48; three times the same for an IPv4 address. */
type Waiter = {
  networks: readonly [string, string, string]
  account: string
  /** The widest network and the account: an account counts each client's widest network once. */
  pair: string
  at: number
  start: () => void
  refuse: (error: Error) => void
}

/** The waiting attempts of one kind, in the order of their arrival. The networks of clients and the accounts take turns. */
class Turns {
  readonly #waiting = new Set<Waiter>()
  /** When an attempt of a network, an account or both last began, as a number of events, not as a time. The longest ago comes first. */
  readonly #servedAt = new Map<string, number>()
  #events = 0

  get waiting(): number {
    return this.#waiting.size
  }

  add({ address, account: name }: Attempt, ends: Pick<Waiter, 'start' | 'refuse'>): Waiter {
    const [narrow, middle = narrow, wide = narrow] = networksOfClient(address)
    const account = `account ${name}`
    const networks = [narrow, middle, wide] as const
    const waiter = { networks, account, pair: `${wide} ${name}`, at: ++this.#events, ...ends }
    this.#waiting.add(waiter)
    return waiter
  }

  remove(waiter: Waiter): boolean {
    return this.#waiting.delete(waiter)
  }

  takeNext(): Waiter | undefined {
    const next = first(this.#waiting, (waiter) => this.#orderOf(waiter))
    if (next === undefined) return undefined
    this.#waiting.delete(next)
    const at = ++this.#events
    for (const name of [...next.networks, next.account, next.pair]) {
      this.#servedAt.delete(name)
      this.#servedAt.set(name, at)
    }
    // What began before the oldest of those that wait arrived decides nothing.
    const [oldest = { at: Number.POSITIVE_INFINITY }] = this.#waiting
    for (const [name, servedAt] of this.#servedAt) if (servedAt < oldest.at) this.#servedAt.delete(name)
    return next
  }

  // Round robin: the lowest rank runs first. It counts when the /48 or the account was last served, whichever is later. Among attempts of one
  // account, the /48 that was served longer ago runs first; within a /48 its parts take turns, and within them the accounts.
  #orderOf({ networks, account, pair, at }: Waiter): readonly number[] {
    const servedAt = (name: string) => Math.max(at, this.#servedAt.get(name) ?? 0)
    const [narrow, middle, wide] = networks.map(servedAt) as [number, number, number]
    return [Math.max(wide, servedAt(account)), wide, middle, narrow, servedAt(pair), at]
  }

  // Removes the oldest of the /64 with the most attempts, in the /56 with the most, in the /48 with the most; or of the account
  // for which the most /48 wait. If an account counted attempts, one network could get those of others refused.
  takeFromLargest(): Waiter | undefined {
    const sizes = new Map<string, number>()
    const sizeOf = (name: string) => sizes.get(name) ?? 0
    const pairs = new Set<string>()
    for (const { networks, account, pair } of this.#waiting) {
      const grown = pairs.has(pair) ? networks : [...networks, account]
      for (const name of new Set(grown)) sizes.set(name, sizeOf(name) + 1)
      pairs.add(pair)
    }
    const found = first(this.#waiting, ({ networks, account, at }) => {
      const [narrow, middle, wide] = networks.map(sizeOf) as [number, number, number]
      return [-Math.max(wide, sizeOf(account)), -wide, -middle, -narrow, at]
    })
    if (found !== undefined) this.#waiting.delete(found)
    return found
  }
}

/** The element with the lowest rank; the first number that differs decides. */
function first<One>(all: Iterable<One>, rankOf: (one: One) => readonly number[]): One | undefined {
  const ranked = Array.from(all, (one) => ({ one, rank: rankOf(one) }))
  const [lowest] = ranked.sort((a, b) => {
    const differs = a.rank.findIndex((number, i) => number !== b.rank[i])
    return (a.rank[differs] ?? 0) - (b.rank[differs] ?? 0)
  })
  return lowest?.one
}
