// Keeps cookies as a browser does, and sends requests in both lanes of the demonstration.
import type { Exchange, Visit } from '../../../demonstration/server/api.ts'
import type { Controls } from '../../../demonstration/server/controls.ts'
import type { HttpResponse } from '../service.ts'

const json = { 'content-type': 'application/json' }

/** A service, or a process of the demonstration alone. */
type App = { request: (path: string, init: RequestInit) => Promise<HttpResponse> }
type Sent = { method?: string; body?: unknown; headers?: Record<string, string> }

export class Visitor {
  readonly #app: App
  readonly cookies = new Map<string, string>()
  id = ''
  user = { username: '', password: '' }
  cookieName = ''
  base = ''

  constructor(app: App) {
    this.#app = app
  }

  static async of(app: App): Promise<Visitor> {
    return new Visitor(app).again()
  }

  /** Starts, or starts again, without a cookie of the world before. */
  async again(): Promise<this> {
    const response = await this.start()
    if (response.status !== 201)
      throw new Error(`no demonstration: ${response.status} ${response.text}`)
    for (const name of [...this.cookies.keys()])
      if (!name.includes('carillon-visit')) this.cookies.delete(name)
    return this
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  async start(headers: Record<string, string> = {}): Promise<HttpResponse> {
    const response = await this.send('visits', { method: 'POST', headers })
    if (response.status === 201) Object.assign(this, response.json().data)
    return response
  }

  /** Sends all cookies, below `demonstration/`, as the page does. */
  async send(
    path: string,
    { method = 'GET', body, headers = {} }: Sent = {},
  ): Promise<HttpResponse> {
    const response = await this.#app.request(`/demonstration/${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.cookies.size > 0 && { cookie: this.cookie }),
        ...(body !== undefined && json),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return response
  }

  session(path: string, sent: Sent = {}): Promise<HttpResponse> {
    return this.send(`service/${path}`, {
      ...sent,
      headers: { 'carillon-visit': this.id, ...sent.headers },
    })
  }

  /** Sends no cookie: a request of the token lane. */
  token(path: string, token: string | undefined, sent: Sent = {}): Promise<HttpResponse> {
    return this.without(`service/${path}`, token, sent)
  }

  /** Sends below `demonstration/`, without cookies, as to any server. */
  without(
    path: string,
    token: string | undefined,
    { method = 'GET', body }: Sent = {},
  ): Promise<HttpResponse> {
    return this.#app.request(`/demonstration/${path}`, {
      method,
      headers: {
        'carillon-visit': this.id,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && json),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  async signIn(): Promise<string> {
    await this.session('login', { method: 'POST', body: { ...this.user, variant: 'stateful' } })
    const response = await this.token('login', undefined, {
      method: 'POST',
      body: { ...this.user, variant: 'stateless' },
    })
    return response.json().token
  }

  async control(action: keyof Controls, more: object = {}): Promise<HttpResponse> {
    return this.send(`controls/${action}`, { method: 'POST', body: more })
  }

  async done<Data = Record<string, unknown>>(
    action: keyof Controls,
    more: object = {},
  ): Promise<Data> {
    const response = await this.control(action, more)
    if (response.status !== 200) throw new Error(`${action}: ${response.status} ${response.text}`)
    return response.json().data
  }

  async exchange(response: HttpResponse): Promise<Exchange> {
    return this.exchangeOf(response.headers.get('carillon-exchange'))
  }

  async exchangeOf(n: number | string | null): Promise<Exchange> {
    return (await this.send(`exchanges/${n}`)).json().data
  }

  async state(): Promise<Visit> {
    return (await this.send('visit')).json().data
  }
}
