// Whose turn is it? A bounded queue in which addresses and accounts take turns, so that neither many attempts from one address
// nor many addresses that attack one account take sign-in away from others (row A12).
import { CarillonError, overloaded } from '../../errors.ts'

/** Who waits. An account is named as the client wrote it, whether it exists or not. */
export type Turn = { address: string; account: string; signal?: AbortSignal }

/** Those of one address, of one account, or of both, while any wait. An account counts each address once. */
type Group = {
  waiting: number
  /** The last turn, counted in events and not in time. */
  servedAt: number
}
type Waiter = {
  turn: Turn
  address: Group
  account: Group
  pair: Group
  at: number
  start: () => void
  refuse: (error: CarillonError) => void
}

/** `refusalDelayMs`: a full queue refuses so much later. A client that tries again at once then takes little of the processor. */
export type Limits = { maxAtOnce: number; maxWaiting: number; maxWaitMs: number; refusalDelayMs: number }
/** Refusals that are held back at once; the others are sent immediately. */
const maxHeld = 1_000

export class Turns {
  readonly #limits: Limits
  readonly #waiting = new Set<Waiter>()
  readonly #addresses = new Map<string, Group>()
  readonly #accounts = new Map<string, Group>()
  readonly #pairs = new Map<string, Group>()
  #running = 0
  #held = 0
  #events = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Runs `work` when it is this one's turn. Throws UNAVAILABLE if too many wait and no address or account has more of them
   * waiting, or after `maxWaitMs`; throws TIMEOUT if `signal` aborts before `work` began.
   */
  async take<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result> {
    if (turn.signal?.aborted) throw clientLeft()
    if (this.#running < this.#limits.maxAtOnce) this.#running++
    else await this.#wait(turn)
    try {
      return await work()
    } finally {
      this.#startNext()
    }
  }

  /** Throws UNAVAILABLE if `take` would refuse this one at once, so that the store is not read for it: a flood costs less. */
  async refuseIfFull(turn: Turn): Promise<void> {
    if (this.#waiting.size < this.#limits.maxWaiting) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = this.#add(turn, { start: resolve, refuse: reject })
    if (first(this.#waiting, lengthOf) === waiter) this.#refuseLater(waiter)
    else {
      this.#remove(waiter)
      resolve()
    }
    await promise
  }

  async #wait(turn: Turn): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = this.#add(turn, { start: resolve, refuse: reject })
    if (this.#waiting.size > this.#limits.maxWaiting) this.#refuseLater(first(this.#waiting, lengthOf) as Waiter)
    const leave = () => this.#refuse(waiter, clientLeft())
    turn.signal?.addEventListener('abort', leave)
    const timer = setTimeout(() => this.#refuse(waiter, tooMany()), this.#limits.maxWaitMs).unref()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      turn.signal?.removeEventListener('abort', leave)
    }
  }

  #refuse(waiter: Waiter, error: CarillonError): void {
    if (this.#remove(waiter)) waiter.refuse(error)
  }

  #refuseLater(waiter: Waiter): void {
    this.#remove(waiter)
    const { refusalDelayMs } = this.#limits
    if (refusalDelayMs === 0 || this.#held >= maxHeld) {
      waiter.refuse(tooMany())
      return
    }
    this.#held++
    setTimeout(() => {
      this.#held--
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

  #add(turn: Turn, ends: Pick<Waiter, 'start' | 'refuse'>): Waiter {
    const address = groupOf(this.#addresses, turn.address)
    const account = groupOf(this.#accounts, turn.account)
    const pair = groupOf(this.#pairs, pairOf(turn))
    if (pair.waiting === 0) account.waiting++
    address.waiting++
    pair.waiting++
    const waiter = { turn, address, account, pair, at: ++this.#events, ...ends }
    this.#waiting.add(waiter)
    return waiter
  }

  /** A group without waiters is forgotten, and with it its last turn: one who comes later is dated by the arrival. */
  #remove(waiter: Waiter): boolean {
    if (!this.#waiting.delete(waiter)) return false
    const { turn, address, account, pair } = waiter
    if (--address.waiting === 0) this.#addresses.delete(turn.address)
    if (--pair.waiting > 0) return true
    this.#pairs.delete(pairOf(turn))
    if (--account.waiting === 0) this.#accounts.delete(turn.account)
    return true
  }
}

/**
 * Round robin: the least goes first. What counts is the last turn of the address or of the account, whichever was later. Of those
 * of one account the address that has waited longer goes first, and of those of one address the account.
 */
function orderOf({ address, account, pair, at }: Waiter): readonly number[] {
  const byAddress = Math.max(at, address.servedAt)
  return [Math.max(byAddress, account.servedAt), byAddress, Math.max(at, pair.servedAt), at]
}

/**
 * The least is refused: the newest of the address with the most waiting, or of the account that the most addresses wait for. An
 * account counts each address once: else one address could fill the queue of somebody else's account.
 */
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

const pairOf = ({ address, account }: Turn) => `${address} ${account}`

/** The one with the least rank, by the first number that differs. */
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
  return overloaded('Too many sign-ins at once; try again in a moment')
}

/** Nobody reads this answer; the code keeps it out of the log's failures. */
function clientLeft(): CarillonError {
  return new CarillonError('TIMEOUT', 'The client closed the connection before its password was checked')
}
