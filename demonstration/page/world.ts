// The reader's own service and every request to it. Only the proof differs: the session lane sends
// cookies, the token lane none.
import type { Exchange, Visit } from '../server/api.ts'
import type { Controls } from '../server/controls.ts'
import type { Texts } from '../texts/texts.ts'

export const lanes = ['session', 'token'] as const
export type Lane = (typeof lanes)[number]

export type Request = {
  method?: string
  /** Below `demonstration/`, such as `service/routeRestreinte`. */
  path: string
  body?: unknown
  hasProof?: boolean
  token?: string
}
type Init = { method?: string; credentials?: RequestCredentials; body?: unknown; token?: string }
type Trouble = keyof Texts['troubles']

/** `retryAfter`: seconds. */
export class WorldError extends Error {
  readonly trouble: Trouble
  readonly retryAfter: number

  constructor(trouble: Trouble, retryAfter = 0) {
    super(`The demonstration cannot go on: ${trouble}.`)
    this.trouble = trouble
    this.retryAfter = retryAfter
  }
}

export const signOutRequest: Request = { method: 'POST', path: 'service/logout' }
export const restricted: Request = { path: 'service/routeRestreinte' }
export const elsewhere: Request = { path: 'other-server/me' }

export class World {
  /** Undefined before `fresh`. */
  visit: Visit | undefined
  token: string | undefined
  /** A place of the page, or a button's name. */
  running: string | undefined
  frame: string | undefined
  failure: { error: WorldError; again: () => void } | undefined
  readonly changed: () => void
  readonly base: string
  readonly #titles: readonly string[]
  #last: Promise<unknown> = Promise.resolve()

  /** `titles`: those of the first notifications. */
  constructor(base: string, titles: readonly string[], changed: () => void) {
    this.base = base
    this.#titles = titles
    this.changed = changed
  }

  /** True if the action was done; otherwise it failed (`failure`), or is still running. */
  async run(what: string, action: () => Promise<void>): Promise<boolean> {
    if (this.running === what) return false
    this.failure = undefined
    this.running = what
    this.changed()
    try {
      await this.alone(action)
    } catch (error) {
      if (!(error instanceof WorldError)) throw error
      this.failure = { error, again: () => void this.run(what, action) }
      if (error.trouble === 'gone' || error.trouble === 'tooMany') this.leave()
    } finally {
      if (this.running === what) this.running = undefined
      this.display(undefined)
    }
    return this.failure === undefined
  }

  display(address: string | undefined): void {
    this.frame = address
    this.changed()
  }

  leave(): void {
    this.token = this.visit = undefined
  }

  async fresh(): Promise<void> {
    this.leave()
    this.visit = await this.#json<Visit>('visits', { method: 'POST' })
    // Without its cookie, the server shows the browser nothing of the world.
    await this.#json('visit').catch((error: unknown) => {
      throw error instanceof WorldError && error.trouble === 'gone'
        ? new WorldError('noCookies')
        : error
    })
    for (const title of this.#titles) await this.control('deliver', { title })
  }

  /** A step and an experiment never run at once. */
  alone<Result>(action: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(action)
    this.#last = turn.catch(() => {})
    return turn
  }

  async send(
    lane: Lane,
    { method = 'GET', path, body, hasProof = true, token = this.token }: Request,
  ) {
    const isByToken = lane === 'token' && hasProof && token !== undefined
    const { response } = await this.#request(path, {
      method,
      body,
      credentials: lane === 'session' && hasProof ? 'same-origin' : 'omit',
      ...(isByToken && { token }),
    })
    return this.exchange(Number(response.headers.get('carillon-exchange') ?? refuse(response)))
  }

  async sendAll(lane: Lane, requests: readonly Request[]): Promise<Exchange[]> {
    const sent: Exchange[] = []
    for (const request of requests) sent.push(await this.send(lane, request))
    return sent
  }

  async signIn(lane: Lane): Promise<Exchange> {
    // A sign-in ends the token that it presents.
    if (lane === 'token') this.token = undefined
    const body = { ...this.visit?.user, variant: lane === 'session' ? 'stateful' : 'stateless' }
    const sent = await this.send(lane, { method: 'POST', path: 'service/login', body })
    if (lane === 'token') this.token = tokenIn(sent)
    return sent
  }

  async renew(): Promise<Exchange> {
    const sent = await this.send('token', { method: 'POST', path: 'service/token/renew' })
    this.token = tokenIn(sent)
    return sent
  }

  async signInBoth(): Promise<Record<Lane, Exchange>> {
    return { session: await this.signIn('session'), token: await this.signIn('token') }
  }

  exchange(n: number): Promise<Exchange> {
    return this.#json<Exchange>(`exchanges/${n}`)
  }

  steal(): Promise<unknown> {
    return this.control('steal', { token: this.token ?? '' })
  }

  async byThief(proof: Lane, { method, path }: Request): Promise<Exchange> {
    const wanted = { proof, method: method === 'POST' ? method : 'GET', path } as const
    return this.exchange((await this.control('thief', wanted)).n)
  }

  control<Name extends keyof Controls>(
    action: Name,
    details: Controls[Name]['in'],
  ): Promise<Controls[Name]['out']> {
    return this.#json(`controls/${action}`, { method: 'POST', body: details })
  }

  async #json<Data>(path: string, init: Init = {}): Promise<Data> {
    const { response, data } = await this.#request(path, init)
    if (!response.ok) refuse(response)
    if (data === undefined) throw new WorldError('other')
    return data as Data
  }

  async #request(path: string, { token, body, ...init }: Init) {
    const headers = {
      'Carillon-Visit': this.visit?.id ?? '',
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    const text = body === undefined ? null : JSON.stringify(body)
    const sent = { ...init, headers, body: text, cache: 'no-store' } as const
    try {
      const response = await fetch(this.base + path, sent)
      return { response, data: parsed(await response.text()) }
    } catch {
      throw new WorldError('unreachable')
    }
  }
}

export const dataIn = <Data>({ response }: Exchange): Partial<Data> => parsed(response.body) ?? {}
export const tokenIn = (exchange: Exchange) => dataIn<{ token: string }>(exchange).token

const troubles: { [status: number]: Trouble } = {
  401: 'gone',
  404: 'gone',
  429: 'tooMany',
  503: 'unreachable',
}

function refuse({ status, headers }: Response): never {
  const retryAfter = Number(headers.get('retry-after'))
  const isFull = status === 503 && retryAfter > 0
  throw new WorldError(isFull ? 'full' : (troubles[status] ?? 'other'), retryAfter)
}

/** Undefined without JSON: 204, or a proxy's response. */
function parsed(text: string) {
  try {
    const body = JSON.parse(text)
    return body?.data ?? body
  } catch {
    return undefined
  }
}
