// The reader's own service and every request to it. Both lanes use the same routes and differ in their proof alone: the session lane sends
// cookies, the token lane sends none.
import type { Exchange, Visit } from '../server/api.ts'
import type { Controls } from '../server/controls.ts'

export const lanes = ['session', 'token'] as const
export type Lane = (typeof lanes)[number]

export type Request = {
  method: string
  /** Below `demonstration/`, such as `service/routeRestreinte`. */
  path: string
  body?: unknown
  hasProof?: boolean
  /** Another token than that of the last sign-in. */
  token?: string
}
export type Sent = { status: number; data: unknown; exchange: Exchange }
export type Trouble = 'unreachable' | 'gone' | 'full' | 'tooMany' | 'noCookies' | 'other'

/** Why the demonstration cannot go on. `retryAfter`: seconds. */
export class WorldError extends Error {
  readonly trouble: Trouble
  readonly retryAfter: number | undefined

  constructor(trouble: Trouble, retryAfter?: number) {
    super(`The demonstration cannot go on: ${trouble}.`)
    this.trouble = trouble
    this.retryAfter = retryAfter
  }
}

export const restricted: Request = { method: 'GET', path: 'service/routeRestreinte' }
export const elsewhere: Request = { method: 'GET', path: 'other-server/me' }

export class World {
  /** Undefined before `fresh`. */
  visit: Visit | undefined
  /** The access token of the token lane: the page keeps it in its memory. */
  token: string | undefined
  /** Counts the fresh starts: a proof of an earlier one has ended. */
  epoch = 0
  readonly #base: string
  readonly #titles: readonly string[]
  #last: Promise<unknown> = Promise.resolve()

  /** `base`: relative to the page, `demonstration/`. `titles`: of the notifications that the inbox begins with. */
  constructor(base: string, titles: readonly string[]) {
    this.#base = base
    this.#titles = titles
  }

  /** Forgets the world, so that the next request makes a new one. */
  leave(): void {
    this.token = this.visit = undefined
  }

  /** A world with a fresh state, user, clock and inbox in place of the one before. All proofs end. */
  async fresh(): Promise<void> {
    this.leave()
    this.epoch++
    const visit = await this.#json<Visit>('visits', { method: 'POST' })
    // Without its cookie, the server shows this browser nothing of the world.
    await this.#json('visit').catch((error: unknown) => {
      throw error instanceof WorldError && error.trouble === 'gone' ? new WorldError('noCookies') : error
    })
    this.visit = visit
    for (const title of this.#titles) await this.control('deliver', { title })
  }

  /** Runs one action at a time: a step of the walk, or an experiment. */
  alone<Result>(action: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(action)
    this.#last = turn.catch(() => {})
    return turn
  }

  /** One real request in a lane, and the server's record of it. */
  async send(lane: Lane, { method, path, body, hasProof = true, token = this.token }: Request): Promise<Sent> {
    const isByToken = lane === 'token' && hasProof && token !== undefined
    const response = await fetched(this.#base + path, {
      method,
      credentials: lane === 'session' && hasProof ? 'same-origin' : 'omit',
      cache: 'no-store',
      headers: {
        'Carillon-Visit': this.visit?.id ?? '',
        ...(isByToken && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const data = dataIn(await textOf(response))
    const n = Number(response.headers.get('carillon-exchange') ?? refuse(response))
    return { status: response.status, data, exchange: await this.exchange(n) }
  }

  /** Signs the user of the world in, in the variant of the lane; keeps the token. */
  async signIn(lane: Lane): Promise<Sent> {
    // A sign-in ends the token that it presents.
    if (lane === 'token') this.token = undefined
    const body = { ...this.visit?.user, variant: lane === 'session' ? 'stateful' : 'stateless' }
    const sent = await this.send(lane, { method: 'POST', path: 'service/login', body })
    if (lane === 'token') this.token = tokenIn(sent)
    return sent
  }

  /** The server's record of a request that had the field `Carillon-Exchange: n` in its response. */
  exchange(n: number): Promise<Exchange> {
    return this.#json<Exchange>(`exchanges/${n}`)
  }

  control<Name extends keyof Controls>(action: Name, details: Controls[Name]['in']): Promise<Controls[Name]['out']> {
    return this.#json(`controls/${action}`, { method: 'POST', body: JSON.stringify(details) })
  }

  async #json<Data>(path: string, init: RequestInit = {}): Promise<Data> {
    const headers: Record<string, string> = init.body === undefined ? {} : { 'Content-Type': 'application/json' }
    if (this.visit !== undefined) headers['Carillon-Visit'] = this.visit.id
    const response = await fetched(this.#base + path, { ...init, cache: 'no-store', headers })
    if (!response.ok) refuse(response)
    const data = dataIn(await textOf(response))
    // Something before the service responded in its place.
    if (data === undefined) throw new WorldError('other')
    return data as Data
  }
}

/** The token that a response brings. */
export const tokenIn = ({ data }: Pick<Sent, 'data'>) => (data as { token?: string } | undefined)?.token

/** Throws WorldError if the service does not respond. */
async function fetched(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, init).catch(() => {
    throw new WorldError('unreachable')
  })
}

async function textOf(response: Response): Promise<string> {
  return response.text().catch(() => {
    throw new WorldError('unreachable')
  })
}

function refuse({ status, headers }: Response): never {
  const retryAfter = Number(headers.get('retry-after')) || undefined
  if (status === 404 || status === 401) throw new WorldError('gone')
  if (status === 429) throw new WorldError('tooMany', retryAfter)
  if (status === 503) throw new WorldError('full', retryAfter)
  throw new WorldError('other')
}

/** Undefined without JSON: 204, or a response that a proxy made. */
function dataIn(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text)
    const isEnvelope = typeof body === 'object' && body !== null && 'success' in body
    return isEnvelope && 'data' in body ? body.data : body
  } catch {
    return undefined
  }
}
