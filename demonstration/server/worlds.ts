// The worlds of the demonstration: one for each visitor, made on demand, limited in number, gone after an hour, or ten minutes without
// a request. A visitor is known by a cookie whose secret only the browser has.
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { CarillonError } from '../../server/basics/errors.ts'
import { networkOfClient } from '../../server/basics/ip-addresses.ts'
import type { Cookie } from '../../server/http/site.ts'
import { equalHashes, hashOf } from '../../server/sealing/secrets.ts'
import { makePassphrase } from '../../server/users/users.ts'
import { World, type WorldOptions } from './world.ts'

export type WorldsOptions = Pick<WorldOptions, 'shared' | 'parent' | 'wall' | 'monotonic' | 'keySet'> & {
  /** The `Path` of every cookie, as browsers see it, such as `/bell/demonstration`. */
  base: string
  isSecure: boolean
}

/** A world takes 22 MiB (docs/decisions/0050-the-demonstration.md). */
const maxWorlds = 10
const maxForAddress = 2
const lifetimeMs = 3_600_000
const idleMs = 600_000
const checkEveryMs = 10_000
const thirtyDaysMs = 30 * 24 * 3_600_000

/** The pause after each start, for the requests that waited. */
const pauseMs = 50
const pause = () => setTimeout(pauseMs)

type Visit = { world: World; network: string; secretHash: string; startedAt: number; usedAt: number }

export class Worlds {
  readonly #options: WorldsOptions
  readonly #visits = new Map<string, Visit>()
  readonly visitCookie: Cookie
  #turn: Promise<unknown> = Promise.resolve()
  readonly #checking = setInterval(() => this.#endOver(), checkEveryMs).unref()
  #isEnding = false

  constructor(options: WorldsOptions) {
    this.#options = options
    // No other site has a reason to lead here with it.
    this.visitCookie = { ...this.#cookie('carillon-visit', lifetimeMs), sameSite: 'Strict' }
  }

  /** `__Secure-` and not `__Host-`, which requires `Path=/`. The names differ from those of the service, so that neither replaces the other. */
  #cookie(name: string, forMs: number): Cookie {
    const { isSecure, base: path } = this.#options
    return { name: isSecure ? `__Secure-${name}` : name, path, isSecure, lifetimeMs: forMs }
  }

  /**
   * Makes a world, which replaces the one of `previous`. `secret` is the new cookie. Throws TOO_MANY_REQUESTS if the address has two,
   * and UNAVAILABLE if all places are taken, both with the seconds until one is free.
   */
  async open(address: string, previous: World | undefined): Promise<{ world: World; secret: string }> {
    if (previous !== undefined) await this.#end(previous)
    this.#endOver()
    const network = networkOfClient(address)
    const all = [...this.#visits.values()]
    const own = all.filter((visit) => visit.network === network)
    if (own.length >= maxForAddress)
      throw this.#taken('TOO_MANY_REQUESTS', `Your address has ${maxForAddress} demonstrations`, own)
    if (this.#isEnding || all.length >= maxWorlds)
      throw this.#taken('UNAVAILABLE', `All ${maxWorlds} places of the demonstration are taken`, all)
    const world = this.#newWorld()
    const secret = randomBytes(16).toString('base64url')
    const at = this.#options.monotonic()
    // From now on it has its place, and only its visitor will know the secret.
    this.#visits.set(world.options.id, { world, network, secretHash: hashOf(secret), startedAt: at, usedAt: at })
    await this.#inTurn(() => world.start()).catch(async (error: unknown) => {
      await this.#end(world)
      throw error
    })
    return { world, secret }
  }

  #taken(code: 'TOO_MANY_REQUESTS' | 'UNAVAILABLE', problem: string, visits: readonly Visit[]): CarillonError {
    const endsAt = Math.min(...visits.map(endOf))
    const retryAfter = Math.max(1, Math.ceil((endsAt - this.#options.monotonic()) / 1_000))
    const remedy = `Try again in ${Math.ceil(retryAfter / 60)} minutes.`
    return new CarillonError(code, problem, { remedy, retryAfter })
  }

  /** One start at a time: each takes some 150 ms of processor time, in which other requests must have their turn. */
  readonly #inTurn: WorldOptions['inTurn'] = (work) => {
    const turn = this.#turn.then(work)
    this.#turn = turn.then(pause, pause)
    return turn
  }

  #newWorld(): World {
    const id = randomBytes(8).toString('base64url')
    const cookies = {
      cookie: this.#cookie('carillon-demonstration', thirtyDaysMs),
      deviceCookie: this.#cookie('carillon-demonstration-device', thirtyDaysMs),
      memoryCookie: this.#cookie('carillon-demonstration-memory', thirtyDaysMs),
    }
    const credentials = { username: 'visitor', password: makePassphrase() }
    return new World({ ...this.#options, id, credentials, cookies, inTurn: this.#inTurn })
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
    if (visit === undefined || at >= endOf(visit)) return undefined
    visit.usedAt = at
    return visit.world
  }

  /** Milliseconds until it is gone, even if it is used. */
  remainingMs({ options: { id } }: World): number {
    const { startedAt } = this.#visits.get(id) ?? { startedAt: Number.NEGATIVE_INFINITY }
    return Math.max(0, startedAt + lifetimeMs - this.#options.monotonic())
  }

  #endOver(): void {
    const at = this.#options.monotonic()
    for (const visit of this.#visits.values()) if (at >= endOf(visit)) void this.#end(visit.world)
  }

  /** Never rejects: no request waits for it, and what is left of a world is removed at the next start. */
  async #end(world: World): Promise<void> {
    if (this.#visits.delete(world.options.id)) await world.end().catch(() => {})
  }

  /** Ends every world, and makes no further one. */
  async end(): Promise<void> {
    this.#isEnding = true
    clearInterval(this.#checking)
    await this.#turn
    await Promise.all([...this.#visits.values()].map(({ world }) => this.#end(world)))
  }
}

function endOf({ startedAt, usedAt }: Visit): number {
  return Math.min(startedAt + lifetimeMs, usedAt + idleMs)
}
