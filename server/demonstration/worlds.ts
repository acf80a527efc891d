// The worlds of the demonstration: one for each visitor, made on demand, limited in number, gone after an hour, or ten minutes without
// a request. A visitor is known by a cookie whose secret only the browser has.
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { CarillonError } from '../basics/errors.ts'
import { networkOfClient } from '../basics/ip-addresses.ts'
import { equalHashes, hashOf } from '../sealing/secrets.ts'
import { makePassphrase } from '../users/users.ts'
import { type InTurn, World, type WorldCookie, type WorldCookies, type WorldOptions } from './world.ts'

export type WorldsOptions = Pick<WorldOptions, 'compose' | 'hasTrace' | 'parent' | 'wall'> & {
  /** Milliseconds that never go back. */
  monotonic: () => number
  /** The `Path` of every cookie, as browsers see it, such as `/bell/demonstration`. Known after the service listens. */
  base: () => string
  isSecure: () => boolean
  /** A world could not be closed, or its folder not removed. */
  onFailure: (error: unknown) => void
}

/** A world takes 22 MiB (docs/decisions/0050-the-demonstration.md). */
const maxWorlds = 10
const lifetimeMs = 3_600_000
const idleMs = 600_000
const checkEveryMs = 10_000
/** How often one address may try to make one in ten minutes. */
const maxForAddress = 30
const countedForMs = 600_000
/** Bounds the memory for their counts: the client who has more addresses is not limited by them anyway. */
const maxAddresses = 10_000

/** The pause after each start or restart, for the requests that waited. */
const pauseMs = 50
const pause = () => setTimeout(pauseMs)

/** What the inbox has at the beginning: names of the field, in no language. */
const titles = ['session', 'token', 'Carillon']

type Visit = { world: World; secretHash: string; startedAt: number; usedAt: number }

export class Worlds {
  readonly #options: WorldsOptions
  readonly #visits = new Map<string, Visit>()
  readonly #made = new Map<string, number[]>()
  #turn: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #checking: NodeJS.Timeout | undefined
  #isEnding = false

  constructor(options: WorldsOptions) {
    this.#options = options
  }

  /** The cookie of the visitor. No other site has a reason to lead here with it. */
  get visitCookie(): WorldCookie {
    return { ...this.#cookie('carillon-visit', lifetimeMs), sameSite: 'Strict' }
  }

  /** The names differ from those of the service, so that neither replaces the other in a browser. */
  get #cookies(): WorldCookies {
    const thirtyDaysMs = 30 * 24 * 3_600_000
    return {
      cookie: this.#cookie('carillon-demonstration', thirtyDaysMs),
      deviceCookie: this.#cookie('carillon-demonstration-device', thirtyDaysMs),
    }
  }

  /** `__Secure-` and not `__Host-`, which requires `Path=/`. */
  #cookie(name: string, forMs: number): WorldCookie {
    const isSecure = this.#options.isSecure()
    return { name: isSecure ? `__Secure-${name}` : name, path: this.#options.base(), isSecure, lifetimeMs: forMs }
  }

  /**
   * Makes a world, which replaces the one of `previous`. `secret` is the new cookie. Throws TOO_MANY_REQUESTS if the address has made
   * many, and UNAVAILABLE with the seconds until a place is free.
   */
  async open(address: string, previous: World | undefined): Promise<{ world: World; secret: string }> {
    this.#refuseMany(networkOfClient(address))
    if (previous !== undefined) await this.#end(previous)
    this.#endOver()
    if (this.#isEnding || this.#visits.size + this.#waiting >= maxWorlds) throw this.#full()
    this.#waiting++
    return this.#inTurn(() => this.#openNext())
  }

  /** One start or restart at a time: each takes some 150 ms of processor time, in which other requests must have their turn. */
  readonly #inTurn: InTurn = (work) => {
    const turn = this.#turn.then(work)
    this.#turn = turn.then(pause, pause)
    return turn
  }

  async #openNext(): Promise<{ world: World; secret: string }> {
    const { compose, hasTrace, parent, wall, monotonic } = this.#options
    const id = randomBytes(8).toString('base64url')
    const credentials = { username: 'visitor', password: makePassphrase() }
    const options = { id, credentials, cookies: this.#cookies, hasTrace, parent, wall, compose, inTurn: this.#inTurn }
    try {
      const world = await World.open(options, titles)
      const secret = randomBytes(16).toString('base64url')
      const at = monotonic()
      this.#visits.set(id, { world, secretHash: hashOf(secret), startedAt: at, usedAt: at })
      this.#checking ??= setInterval(() => this.#endOver(), checkEveryMs).unref()
      if (this.#isEnding) await this.#end(world)
      return { world, secret }
    } finally {
      // In the same turn in which the world is counted as a visit.
      this.#waiting--
    }
  }

  ofSecret(secret: string | null): World | undefined {
    if (secret === null) return undefined
    const hash = hashOf(secret)
    return this.#used([...this.#visits.values()].find(({ secretHash }) => equalHashes(secretHash, hash)))
  }

  /** For requests that must have no cookie. The id opens nothing: it says which service shall judge the request. */
  ofId(id: string): World | undefined {
    return this.#used(this.#visits.get(id))
  }

  #used(visit: Visit | undefined): World | undefined {
    const at = this.#options.monotonic()
    if (visit === undefined || isOver(visit, at)) return undefined
    visit.usedAt = at
    return visit.world
  }

  /** Milliseconds until it is gone, even if it is used. */
  remainingMs({ options: { id } }: World): number {
    const { startedAt } = this.#visits.get(id) ?? { startedAt: Number.NEGATIVE_INFINITY }
    return Math.max(0, startedAt + lifetimeMs - this.#options.monotonic())
  }

  #refuseMany(network: string): void {
    const at = this.#options.monotonic()
    const times = (this.#made.get(network) ?? []).filter((time) => time > at - countedForMs)
    if (times.length >= maxForAddress) {
      const retryAfter = Math.ceil(((times[0] as number) + countedForMs - at) / 1_000)
      const problem = `Your address has tried to start ${maxForAddress} demonstrations in ten minutes`
      throw new CarillonError('TOO_MANY_REQUESTS', problem, { retryAfter })
    }
    // Deleted first, so that the map begins with the address whose last attempt is the oldest.
    this.#made.delete(network)
    this.#made.set(network, [...times, at])
    for (const [other, earlier] of this.#made) {
      if (this.#made.size <= maxAddresses && (earlier.at(-1) ?? 0) > at - countedForMs) break
      this.#made.delete(other)
    }
  }

  #full(): CarillonError {
    const at = this.#options.monotonic()
    const ends = [...this.#visits.values()].map((visit) => endOf(visit) - at)
    const retryAfter = Math.max(1, Math.ceil(Math.min(lifetimeMs, ...ends) / 1_000))
    const problem = `All ${maxWorlds} places of the demonstration are taken`
    const remedy = `Try again in ${Math.ceil(retryAfter / 60)} minutes.`
    return new CarillonError('UNAVAILABLE', problem, { remedy, retryAfter, report: 'overload' })
  }

  #endOver(): void {
    const at = this.#options.monotonic()
    for (const visit of this.#visits.values()) if (isOver(visit, at)) void this.#end(visit.world)
  }

  /** Never rejects: no request waits for it, and the end of one world must not keep the service from stopping. */
  async #end(world: World): Promise<void> {
    if (!this.#visits.delete(world.options.id)) return
    if (this.#visits.size === 0) {
      clearInterval(this.#checking)
      this.#checking = undefined
    }
    await world.end().catch(this.#options.onFailure)
  }

  /** Ends every world, and makes no further one. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#turn
    await Promise.all([...this.#visits.values()].map(({ world }) => this.#end(world)))
  }
}

function endOf({ startedAt, usedAt }: Visit): number {
  return Math.min(startedAt + lifetimeMs, usedAt + idleMs)
}

function isOver(visit: Visit, at: number): boolean {
  return at >= endOf(visit)
}
