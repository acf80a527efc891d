// The waiting attempts of one kind, and in which order they run or are refused. The networks of clients and the accounts take turns.
import { networksOfClient } from '../basics/ip-addresses.ts'

/**
 * `address`: the client's. `account`: the username of the attempt, whether such a user exists or not. `known`: what proves that the
 * account's user was here before, a valid device token of this user or a valid one-time link. It has one place among the known devices.
 */
export type Attempt = { address: string; account: string; known?: string | undefined; signal?: AbortSignal }

/** The waiting attempts of a network, of an account, or of both. An account counts each client's widest network once. */
type Group = {
  waiting: number
  /** When an attempt of the group last began, as a number of events, not as a time. */
  servedAt: number
}
export type Waiter = {
  /** A /64, its /56 and its /48; three times the same for an IPv4 address. */
  networks: readonly [Group, Group, Group]
  account: Group
  pair: Group
  at: number
  names: { networks: readonly string[]; account: string; pair: string }
  start: () => void
  refuse: (error: Error) => void
}

export class Turns {
  readonly #waiting = new Set<Waiter>()
  readonly #networks = new Map<string, Group>()
  readonly #accounts = new Map<string, Group>()
  readonly #pairs = new Map<string, Group>()
  #events = 0

  get waiting(): number {
    return this.#waiting.size
  }

  add({ address, account: name }: Attempt, ends: Pick<Waiter, 'start' | 'refuse'>): Waiter {
    const texts = networksOfClient(address)
    const widest = texts.at(-1) ?? ''
    const names = { networks: texts, account: name, pair: `${widest} ${name}` }
    const [narrow, middle, wide] = texts.map((text) => groupOf(this.#networks, text)) as [Group, Group?, Group?]
    const account = groupOf(this.#accounts, name)
    const pair = groupOf(this.#pairs, names.pair)
    if (pair.waiting === 0) account.waiting++
    const networks = [narrow, middle ?? narrow, wide ?? narrow] as const
    for (const group of new Set([...networks, pair])) group.waiting++
    const waiter = { networks, account, pair, at: ++this.#events, names, ...ends }
    this.#waiting.add(waiter)
    return waiter
  }

  /** A group without waiting attempts is deleted, with its `servedAt`: a later attempt counts from its arrival. */
  remove(waiter: Waiter): boolean {
    if (!this.#waiting.delete(waiter)) return false
    const { networks, account, pair, names } = waiter
    for (const group of new Set([...networks, pair])) group.waiting--
    for (const name of names.networks) if (this.#networks.get(name)?.waiting === 0) this.#networks.delete(name)
    if (pair.waiting > 0) return true
    this.#pairs.delete(names.pair)
    if (--account.waiting === 0) this.#accounts.delete(names.account)
    return true
  }

  takeNext(): Waiter | undefined {
    const next = first(this.#waiting, orderOf)
    if (next === undefined) return undefined
    this.remove(next)
    const at = ++this.#events
    for (const group of [...next.networks, next.account, next.pair]) group.servedAt = at
    return next
  }

  /** Removes and returns the oldest attempt of the largest group. */
  takeFromLargest(): Waiter | undefined {
    const found = first(this.#waiting, sizeOf)
    return found !== undefined && this.remove(found) ? found : undefined
  }
}

// Round robin: the lowest rank runs first. It counts when the /48 or the account was last served, whichever is later. Among attempts of one
// account, the /48 that was served longer ago runs first; within a /48 its parts take turns, and within them the accounts.
function orderOf({ networks, account, pair, at }: Waiter): readonly number[] {
  const [narrow, middle, wide] = networks.map(({ servedAt }) => Math.max(at, servedAt)) as [number, number, number]
  return [Math.max(wide, account.servedAt), wide, middle, narrow, Math.max(at, pair.servedAt), at]
}

// The lowest rank is refused: the oldest of the /64 with the most attempts, in the /56 with the most, in the /48 with the most; or of the account
// for which the most /48 wait. If an account counted attempts, one network could get those of others refused.
function sizeOf({ networks: [narrow, middle, wide], account, at }: Waiter): readonly number[] {
  return [-Math.max(wide.waiting, account.waiting), -wide.waiting, -middle.waiting, -narrow.waiting, at]
}

function groupOf(groups: Map<string, Group>, name: string): Group {
  const group = groups.get(name) ?? { waiting: 0, servedAt: 0 }
  groups.set(name, group)
  return group
}

/** The element with the lowest rank; the first number that differs decides. */
function first<One>(all: Iterable<One>, rankOf: (one: One) => readonly number[]): One | undefined {
  let found: { one: One; rank: readonly number[] } | undefined
  for (const one of all) {
    const rank = rankOf(one)
    const lowest = found?.rank ?? []
    const differs = rank.findIndex((number, i) => number !== lowest[i])
    if (found === undefined || (rank[differs] as number) < (lowest[differs] as number)) found = { one, rank }
  }
  return found?.one
}
