// The worlds of the demonstration: one for each visitor, made on demand, limited in number, gone after ten minutes without a request. A visitor
// is known by a cookie whose secret only the browser has.
import { randomBytes } from 'node:crypto'
import { networksOf } from '../../server/basics/client.ts'
import { CarillonError } from '../../server/basics/errors.ts'
import { hashOf } from '../../server/basics/secrets.ts'
import type { Cookie } from '../../server/http/site.ts'
import { makePassphrase } from '../../server/users/users.ts'
import { World, type WorldOptions } from './world.ts'

/** A world takes 22 MiB (docs/decisions/0050-the-demonstration.md). */
const maxWorlds = 10
const maxForAddress = 2
const idleMs = 600_000
const thirtyDaysMs = 30 * 24 * 3_600_000

/** `world` is undefined until it has started. */
type Visit = { world?: World; network: string; endsAt: number }

type Options = Omit<WorldOptions, 'id' | 'user' | 'cookies'>

export class Worlds {
  readonly #options: Options
  /** By the id. */
  readonly #visits = new Map<string, Visit>()
  readonly visitCookie: Cookie
  #turn: Promise<unknown> = Promise.resolve()
  #isEnding = false

  constructor(options: Options) {
    this.#options = options
    // No other site has a reason to lead here with it.
    this.visitCookie = { ...this.#cookie('carillon-visit'), sameSite: 'Strict' }
  }

  /** `__Secure-` and not `__Host-`, which requires `Path=/`. The names differ from those of the service, so that neither replaces the other. */
  #cookie(name: string): Cookie {
    const { url, prefix } = this.#options.settings
    const isSecure = url.startsWith('https:')
    const path = `${new URL(url).pathname.replace(/\/$/, '')}${prefix}/demonstration`
    return { name: isSecure ? `__Secure-${name}` : name, path, isSecure, lifetimeMs: thirtyDaysMs }
  }

  /**
   * Makes a world, which replaces the one of `previous`. `secret` is the new cookie. Throws TOO_MANY_REQUESTS if the address has two,
   * and UNAVAILABLE if all places are taken, both with the seconds until one is free.
   */
  async open(address: string, previous: World | undefined): Promise<{ world: World; secret: string }> {
    const at = this.#options.monotonic()
    const isOver = ([one, { endsAt }]: [string, Visit]) => at >= endsAt || one === previous?.options.id
    const ended = Promise.all([...this.#visits].filter(isOver).map(([one]) => this.#end(one)))
    const [network] = networksOf(address)
    const all = [...this.#visits.values()]
    const own = all.filter((one) => one.network === network)
    if (own.length >= maxForAddress)
      throw this.#taken('TOO_MANY_REQUESTS', `Your address has ${maxForAddress} demonstrations`, own)
    if (this.#isEnding || all.length >= maxWorlds)
      throw this.#taken('UNAVAILABLE', `All ${maxWorlds} places of the demonstration are taken`, all)
    const secret = randomBytes(16).toString('base64url')
    const id = idOf(secret)
    // From now on it has its place, and only its visitor will know the secret.
    const visit: Visit = { network, endsAt: at + idleMs }
    this.#visits.set(id, visit)
    // One start at a time: each takes some 150 ms of processor time.
    const turn = Promise.all([this.#turn, ended]).then(() => this.#start(id))
    this.#turn = turn.catch(() => this.#visits.delete(id))
    visit.world = await turn
    return { world: visit.world, secret }
  }

  #taken(code: 'TOO_MANY_REQUESTS' | 'UNAVAILABLE', problem: string, visits: readonly Visit[]): CarillonError {
    const endsAt = Math.min(...visits.map((visit) => visit.endsAt))
    const retryAfter = Math.max(1, Math.ceil((endsAt - this.#options.monotonic()) / 1_000))
    const remedy = `Try again in ${Math.ceil(retryAfter / 60)} minutes.`
    return new CarillonError(code, problem, { remedy, retryAfter })
  }

  #start(id: string): Promise<World> {
    const cookies = {
      cookie: this.#cookie('carillon-demonstration'),
      deviceCookie: this.#cookie('carillon-demonstration-device'),
      memoryCookie: this.#cookie('carillon-demonstration-memory'),
    }
    return World.start({ ...this.#options, id, cookies, user: { username: 'visitor', password: makePassphrase() } })
  }

  ofSecret(secret: string | null): World | undefined {
    return this.ofId(idOf(secret ?? ''))
  }

  /** Finds the world of a request that must have no cookie. The id is no proof: it only says which service checks the request. */
  ofId(id: string): World | undefined {
    const at = this.#options.monotonic()
    const visit = this.#visits.get(id)
    if (visit === undefined || at >= visit.endsAt) return undefined
    visit.endsAt = at + idleMs
    return visit.world
  }

  /** Never rejects: what is left of a world is removed with the process. */
  async #end(id: string): Promise<void> {
    const visit = this.#visits.get(id)
    this.#visits.delete(id)
    await visit?.world?.end().catch(() => {})
  }

  /** Ends every world, and makes no further one. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#turn
    await Promise.all([...this.#visits.keys()].map((id) => this.#end(id)))
  }
}

/** The hash of its secret, of which 128 bits are enough: it is public. */
function idOf(secret: string): string {
  return hashOf(secret).slice(0, 22)
}
