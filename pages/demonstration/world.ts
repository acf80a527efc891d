// The visitor's world: the small service of the demonstration that belongs to this browser, and every request to it. Both lanes use the same
// routes and differ in their proof alone: the session lane sends cookies, the token lane sends none.

export const lanes = ['session', 'token'] as const
export type Lane = (typeof lanes)[number]

export type Visit = {
  /** Names the world in `Carillon-Visit`. It is no secret, and proves nothing. */
  id: string
  user: { username: string; password: string }
  /** The name of this world's session cookie. */
  cookieName: string
}
export type Row = { table: string; columns: Readonly<Record<string, string | number | null>> }
export type Message = { line: string; fields: readonly (readonly [name: string, value: string])[]; body: string }
export type Traced = { name: string; detail: string; ms: number }
/** One request with its response, as they were on the wire, and what the server keeps for the user before and after. */
export type Exchange = {
  n: number
  request: Message
  response: Message
  /** Null if the settings of the service have it off. */
  trace: readonly Traced[] | null
  rows: { before: readonly Row[]; after: readonly Row[] }
}
export type Request = {
  method: string
  /** Inside the service, such as `/routeRestreinte`. */
  path: string
  body?: unknown
  isWithoutProof?: boolean
}
/** `data`: what is in the envelope of the response, or the bare object of a login. */
export type Sent = { lane: Lane; status: number; data: unknown; exchange: Exchange }
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

type Control = 'restart' | 'outage' | 'advance' | 'change-cookie' | 'copy-cookie' | 'put-cookie' | 'revoke' | 'deliver'

export class World {
  /** Undefined before `begin`. */
  visit: Visit | undefined
  /** The access token of the token lane: a page keeps it in its memory. */
  token: string | undefined
  readonly #base: string
  #last: Promise<unknown> = Promise.resolve()

  /** `base`: relative to the page, `demonstration/`. */
  constructor(base: string) {
    this.#base = base
  }

  /** Forgets the world, so that the next request makes a new one. */
  leave(): void {
    this.token = undefined
    this.visit = undefined
  }

  /** Makes a new world for this browser, in place of the one that it has. */
  async begin(): Promise<Visit> {
    this.leave()
    const visit = await this.#json<Visit>('visits', { method: 'POST' })
    // Without its cookie, the server shows this browser nothing of the world.
    await this.#json('visit').catch((error: unknown) => {
      throw error instanceof WorldError && error.trouble === 'gone' ? new WorldError('noCookies') : error
    })
    this.visit = visit
    return visit
  }

  /** The world, made if there is none yet. */
  async ready(): Promise<Visit> {
    return this.visit ?? this.begin()
  }

  /** Runs one action at a time: a step of the walk, or an experiment. */
  alone<Result>(action: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(action)
    this.#last = turn.catch(() => {})
    return turn
  }

  /** One real request in a lane, and the server's record of it. */
  async send(lane: Lane, request: Request): Promise<Sent> {
    const response = await this.request(lane, request)
    const text = await textOf(response)
    const n = Number(response.headers.get('carillon-exchange') ?? refuse(response))
    const exchange = await this.exchange(n)
    return { lane, status: response.status, data: dataIn(text), exchange }
  }

  /** Does what `send` does, without the record. */
  async request(lane: Lane, { method, path, body, isWithoutProof = false }: Request): Promise<Response> {
    const { id } = await this.ready()
    const isByCookie = lane === 'session' && !isWithoutProof
    const token = lane === 'token' && !isWithoutProof ? this.token : undefined
    return fetched(`${this.#base}service${path}`, {
      method,
      credentials: isByCookie ? 'same-origin' : 'omit',
      cache: 'no-store',
      headers: {
        'Carillon-Visit': id,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  /** Signs the user of the world in, in the variant of the lane; keeps the token. */
  async signIn(lane: Lane): Promise<Sent> {
    const { user } = await this.ready()
    const variant = lane === 'session' ? 'stateful' : 'stateless'
    // A sign-in ends the token that it presents.
    if (lane === 'token') this.token = undefined
    const sent = await this.send(lane, { method: 'POST', path: '/login', body: { ...user, variant } })
    if (lane === 'token') this.token = (sent.data as { token?: string } | undefined)?.token
    return sent
  }

  /** The server's record of a request that had the field `Carillon-Exchange: n` in its response. */
  exchange(n: number): Promise<Exchange> {
    return this.#json<Exchange>(`exchanges/${n}`)
  }

  /** Changes the world itself: its clock, its store, its process. */
  control<Result>(action: Control, details: Readonly<Record<string, unknown>> = {}): Promise<Result> {
    return this.#json<Result>('controls', { method: 'POST', body: JSON.stringify({ action, ...details }) })
  }

  async #json<Data>(path: string, init: RequestInit = {}): Promise<Data> {
    const headers: Record<string, string> = init.body === undefined ? {} : { 'Content-Type': 'application/json' }
    const response = await fetched(this.#base + path, { ...init, cache: 'no-store', headers })
    if (!response.ok) refuse(response)
    const data = dataIn(await textOf(response))
    // Something before the service responded in its place.
    if (data === undefined) throw new WorldError('other')
    return data as Data
  }
}

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
