// For tests: a person and a producer of a running service, over HTTP and nothing else.
import assert from 'node:assert/strict'
import { type Ask, HttpClient } from '../http/http-client.ts'
import type { Answer, Proof } from '../service.ts'

export type SignIn = { username: string; password: string; key: string }

export class UserOfService {
  readonly client: HttpClient
  readonly #signIn: SignIn

  constructor(url: string, signIn: SignIn, { connections = 64 }: { connections?: number } = {}) {
    this.client = new HttpClient(url, { connections })
    this.#signIn = signIn
  }

  async signIn(variant: 'stateful' | 'stateless' = 'stateful'): Promise<Proof> {
    const { username, password } = this.#signIn
    const answer = await this.post('/login', { username, password, variant })
    assert.equal(answer.status, 200, answer.text)
    if (variant === 'stateless') return { authorization: `Bearer ${answer.json().token}` }
    return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  }

  /** Sends a notification to this user. */
  deliver(title: string, idempotencyKey?: string): Promise<Answer> {
    const { username, key } = this.#signIn
    const once = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    const body = { recipients: [{ username }], title }
    return this.post('/api/notifications', body, { authorization: `Bearer ${key}`, ...once })
  }

  post(path: string, body: unknown, headers: Proof = {}): Promise<Answer> {
    const fields = { 'content-type': 'application/json', ...headers }
    return this.client.ask({ method: 'POST', path, body: JSON.stringify(body), headers: fields })
  }

  ask(ask: Ask): Promise<Answer> {
    return this.client.ask(ask)
  }

  /** Every notification, newest first. */
  async inbox(proof: Proof): Promise<{ id: string; title: string; read: boolean }[]> {
    const items = []
    for (let before = ''; ; ) {
      const answer = await this.ask({ path: `/api/notifications?limit=100${before}`, headers: proof })
      assert.equal(answer.status, 200, answer.text)
      const { data } = answer.json()
      items.push(...data.items)
      if (data.next === null) return items
      before = `&before=${data.next}`
    }
  }

  close(): void {
    this.client.close()
  }
}

/** The id of the one notification that a delivery made. */
export function idIn(answer: Answer): string {
  return answer.json().data.results[0].id
}
