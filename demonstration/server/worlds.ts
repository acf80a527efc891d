// Each visitor has a world for ten minutes after a request. A cookie's secret names the visitor.
import { randomBytes } from 'node:crypto'
import { CarillonError } from '../../server/basics/errors.ts'
import { hashOf } from '../../server/basics/secrets.ts'
import type { Cookie } from '../../server/http/site.ts'
import { makePassphrase } from '../../server/users/access/access.ts'
import { World, type WorldOptions } from './world.ts'

export const idleMs = 600_000
const thirtyDaysMs = 30 * 24 * 3_600_000

type Visit = { world?: World; endsAt: number }

type Options = Omit<WorldOptions, 'id' | 'user' | 'cookies'>

export class Worlds {
  readonly #options: Options
  readonly #visits = new Map<string, Visit>()
  readonly visitCookie: Cookie
  #turn: Promise<unknown> = Promise.resolve()
  #isEnding = false

  constructor(options: Options) {
    this.#options = options
    this.visitCookie = { ...this.#cookie('carillon-visit'), sameSite: 'Strict' }
  }

  /** `__Host-` would require `Path=/`. These cookies replace none of the service. */
  #cookie(name: string): Cookie {
    const { url, prefix } = this.#options.settings
    const isSecure = url.startsWith('https:')
    const path = `${new URL(url).pathname.replace(/\/$/, '')}${prefix}/demonstration`
    return { name: isSecure ? `__Secure-${name}` : name, path, isSecure, lifetimeMs: thirtyDaysMs }
  }

  /**
   * `secret`: the new cookie. Throws UNAVAILABLE, with seconds to wait, without a free place. One
   * address may take all, as a school has one.
   */
  async open(previous: World | undefined): Promise<{ world: World; secret: string }> {
    const at = this.#options.monotonic()
    const isOver = ([one, { endsAt }]: [string, Visit]) =>
      at >= endsAt || one === previous?.options.id
    const ended = Promise.all([...this.#visits].filter(isOver).map(([one]) => this.#end(one)))
    if (this.#isEnding || this.#visits.size >= this.#options.settings.places) throw this.#taken()
    const secret = randomBytes(16).toString('base64url')
    const id = idOf(secret)
    const visit: Visit = { endsAt: at + idleMs }
    this.#visits.set(id, visit)
    // One start at a time, because each takes some 150 ms of processor time.
    const turn = Promise.all([this.#turn, ended]).then(() => this.#start(id))
    this.#turn = turn.catch(() => this.#visits.delete(id))
    visit.world = await turn
    return { world: visit.world, secret }
  }

  #taken(): CarillonError {
    const endsAt = Math.min(...[...this.#visits.values()].map((visit) => visit.endsAt))
    const retryAfter = Math.max(1, Math.ceil((endsAt - this.#options.monotonic()) / 1_000))
    const remedy = `Try again in ${Math.ceil(retryAfter / 60)} minutes.`
    const problem = `All ${this.#options.settings.places} places of the demonstration are taken`
    return new CarillonError('UNAVAILABLE', problem, { remedy, retryAfter })
  }

  #start(id: string): Promise<World> {
    const cookies = {
      cookie: this.#cookie('carillon-demonstration'),
      deviceCookie: this.#cookie('carillon-demonstration-device'),
      memoryCookie: this.#cookie('carillon-demonstration-memory'),
    }
    return World.start({
      ...this.#options,
      id,
      cookies,
      user: { username: 'visitor', password: makePassphrase() },
    })
  }

  ofSecret(secret: string | null): World | undefined {
    return this.ofId(idOf(secret ?? ''))
  }

  /** Requests without a cookie give the id. It proves nothing: it names the service that checks. */
  ofId(id: string): World | undefined {
    const at = this.#options.monotonic()
    const visit = this.#visits.get(id)
    if (visit === undefined || at >= visit.endsAt) return undefined
    visit.endsAt = at + idleMs
    return visit.world
  }

  /** Never rejects: the end of the process removes the rest. */
  async #end(id: string): Promise<void> {
    const visit = this.#visits.get(id)
    this.#visits.delete(id)
    await visit?.world?.end().catch(() => {})
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await this.#turn
    await Promise.all([...this.#visits.keys()].map((id) => this.#end(id)))
  }
}

/** The id is public; 128 bits of the hash suffice. */
function idOf(secret: string): string {
  return hashOf(secret).slice(0, 22)
}
