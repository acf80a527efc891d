// A user and a producer use a running service over HTTP.
import assert from 'node:assert/strict'
import { HttpClient, type HttpRequest } from '../http/http-client.ts'
import type { HttpResponse, Proof } from '../service.ts'

export type SignIn = { username: string; password: string; key: string }

export class UserOfService {
  readonly client: HttpClient
  /** The next sign-in sends the cookie of a known device. */
  device: Proof = {}
  readonly #signIn: SignIn

  constructor(url: string, signIn: SignIn, { connections = 64 }: { connections?: number } = {}) {
    this.client = new HttpClient(url, { connections })
    this.#signIn = signIn
  }

  async signIn(variant: 'stateful' | 'stateless' = 'stateful'): Promise<Proof> {
    const { username, password } = this.#signIn
    const response = await this.post('/login', { username, password, variant }, this.device)
    assert.equal(response.status, 200, response.text)
    if (variant === 'stateless') return { authorization: `Bearer ${response.json().token}` }
    const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
    const device = cookies.find((cookie) => cookie.startsWith('carillon-device='))
    if (device !== undefined) this.device = { cookie: device }
    return { cookie: cookies[0] ?? '' }
  }

  deliver(title: string, idempotencyKey?: string): Promise<HttpResponse> {
    const { username, key } = this.#signIn
    const once = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    const body = { recipients: [{ username }], title }
    return this.post('/api/notifications', body, { authorization: `Bearer ${key}`, ...once })
  }

  post(path: string, body: unknown, headers: Proof = {}): Promise<HttpResponse> {
    const fields = { 'content-type': 'application/json', ...headers }
    return this.client.request({
      method: 'POST',
      path,
      body: JSON.stringify(body),
      headers: fields,
    })
  }

  request(request: HttpRequest): Promise<HttpResponse> {
    return this.client.request(request)
  }

  async inbox(proof: Proof): Promise<{ id: string; title: string; read: boolean }[]> {
    const items = []
    for (let before = ''; ; ) {
      const response = await this.request({
        path: `/api/notifications?limit=100${before}`,
        headers: proof,
      })
      assert.equal(response.status, 200, response.text)
      const { data } = response.json()
      items.push(...data.items)
      if (data.next === null) return items
      before = `&before=${data.next}`
    }
  }

  close(): void {
    this.client.close()
  }
}

export function idIn(response: HttpResponse): string {
  return response.json().data.results[0].id
}
