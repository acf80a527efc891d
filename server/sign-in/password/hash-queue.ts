// A bounded queue of sign-in attempts in which addresses and accounts take turns. Neither many attempts from one address
// nor many addresses that attack one account can block the sign-in of others (A12).
import { CarillonError, overloaded } from '../../errors.ts'

/** `account` is the username of the attempt, whether such a user exists or not. */
export type Attempt = { address: string; account: string; signal?: AbortSignal }

/** The waiting attempts of one address, of one account, or of both. An account counts each address once. */
type Group = {
  waiting: number
  /** When an attempt of the group last began, as a number of events, not as a time. */
  servedAt: number
}
type Waiter = {
  attempt: Attempt
  address: Group
  account: Group
  pair: Group
  at: number
  start: () => void
  refuse: (error: CarillonError) => void
}

/** `refusalDelayMs` delays each refusal, so that a client that retries at once uses little processor time. */
export type Limits = { maxAtOnce: number; maxWaiting: number; maxWaitMs: number; refusalDelayMs: number }
/** How many refusals may be delayed at the same time; further ones are sent immediately. */
const maxDelayed = 1_000

export class HashQueue {
  readonly #limits: Limits
  readonly #waiting = new Set<Waiter>()
  readonly #addresses = new Map<string, Group>()
  readonly #accounts = new Map<string, Group>()
  readonly #pairs = new Map<string, Group>()
  #running = 0
  #delayed = 0
  #events = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * A full queue throws UNAVAILABLE for an attempt of the address or account with the most waiting attempts, maybe this
   * one. Throws UNAVAILABLE after `maxWaitMs`, too, and TIMEOUT if `signal` aborts before `work` begins.
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

  /** Throws UNAVAILABLE if `run` would refuse this attempt at once, so that a flood of them does not read the store. */
  async refuseIfFull(attempt: Attempt): Promise<void> {
    if (this.#waiting.size < this.#limits.maxWaiting) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = this.#add(attempt, { start: resolve, refuse: reject })
    if (first(this.#waiting, lengthOf) === waiter) this.#refuseLater(waiter)
    else {
      this.#remove(waiter)
      resolve()
    }
    await promise
  }

  async #wait(attempt: Attempt): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = this.#add(attempt, { start: resolve, refuse: reject })
    if (this.#waiting.size > this.#limits.maxWaiting) this.#refuseLater(first(this.#waiting, lengthOf) as Waiter)
    const leave = () => this.#refuse(waiter, clientLeft())
    attempt.signal?.addEventListener('abort', leave)
    const timer = setTimeout(() => this.#refuse(waiter, tooMany()), this.#limits.maxWaitMs).unref()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      attempt.signal?.removeEventListener('abort', leave)
    }
  }

  #refuse(waiter: Waiter, error: CarillonError): void {
    if (this.#remove(waiter)) waiter.refuse(error)
  }

  #refuseLater(waiter: Waiter): void {
    this.#remove(waiter)
    const { refusalDelayMs } = this.#limits
    if (refusalDelayMs === 0 || this.#delayed >= maxDelayed) {
      waiter.refuse(tooMany())
      return
    }
    this.#delayed++
    setTimeout(() => {
      this.#delayed--
      waiter.refuse(tooMany())
    }, refusalDelayMs)
  }

  #startNext(): void {
    const next = first(this.#waiting, orderOf)
    if (next === undefined) {
      this.#running--
      return
    }
    this.#remove(next)
    const at = ++this.#events
    for (const group of [next.address, next.account, next.pair]) group.servedAt = at
    next.start()
  }

  #add(attempt: Attempt, ends: Pick<Waiter, 'start' | 'refuse'>): Waiter {
    const address = groupOf(this.#addresses, attempt.address)
    const account = groupOf(this.#accounts, attempt.account)
    const pair = groupOf(this.#pairs, pairOf(attempt))
    if (pair.waiting === 0) account.waiting++
    address.waiting++
    pair.waiting++
    const waiter = { attempt, address, account, pair, at: ++this.#events, ...ends }
    this.#waiting.add(waiter)
    return waiter
  }

  /** A group without waiting attempts is deleted, with its `servedAt`: a later attempt counts from its arrival. */
  #remove(waiter: Waiter): boolean {
    if (!this.#waiting.delete(waiter)) return false
    const { attempt, address, account, pair } = waiter
    if (--address.waiting === 0) this.#addresses.delete(attempt.address)
    if (--pair.waiting > 0) return true
    this.#pairs.delete(pairOf(attempt))
    if (--account.waiting === 0) this.#accounts.delete(attempt.account)
    return true
  }
}

// Round robin: the lowest rank runs first. It counts when address or account was last served, whichever is later. Among
// attempts of one account, the address that was served longer ago runs first; among those of one address, the account.
function orderOf({ address, account, pair, at }: Waiter): readonly number[] {
  const byAddress = Math.max(at, address.servedAt)
  return [Math.max(byAddress, account.servedAt), byAddress, Math.max(at, pair.servedAt), at]
}

// The lowest rank is refused: the newest attempt of the address with the most waiting attempts, or of the account with
// the most waiting addresses. If an account counted attempts, one address could get those of others refused.
function lengthOf({ address, account, pair, at }: Waiter): readonly number[] {
  return [-Math.max(address.waiting, account.waiting), -pair.waiting, -at]
}

function groupOf(groups: Map<string, Group>, name: string): Group {
  const known = groups.get(name)
  if (known !== undefined) return known
  const group = { waiting: 0, servedAt: 0 }
  groups.set(name, group)
  return group
}

const pairOf = ({ address, account }: Attempt) => `${address} ${account}`

/** The element with the lowest rank; the first number that differs decides. */
function first<One>(all: Iterable<One>, rankOf: (one: One) => readonly number[]): One | undefined {
  let found: { one: One; rank: readonly number[] } | undefined
  for (const one of all) {
    const rank = rankOf(one)
    if (found === undefined || isLess(rank, found.rank)) found = { one, rank }
  }
  return found?.one
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return (a[i] as number) < (b[i] as number)
  return false
}

function tooMany(): CarillonError {
  return overloaded('Too many sign-ins at once')
}

/** No client receives it; the code keeps it out of the logged failures. */
function clientLeft(): CarillonError {
  return new CarillonError('TIMEOUT', 'The client closed the connection before its password was checked')
}
