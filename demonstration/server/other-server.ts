// A server of another application, with a listener of its own: the other server, which has only the public key, and each of the five behind
// the balancer. It shares no memory with the service; with the way `store` it shares the database.
import { randomBytes } from 'node:crypto'
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose'
import { type Listener, passedField, passOn } from '../../server/demonstration/pass-on.ts'
import { bearerToken, cookieText, sessionSecret } from '../../server/http/request/credentials.ts'
import type { Cookie } from '../../server/http/site.ts'
import { equalSecrets, hashOf } from '../../server/sealing/secrets.ts'
import type { Place, Row, Step } from './api.ts'
import { noted, tracing } from './trace.ts'

export type OtherServerOptions = {
  place: Place
  /** `iss` and `aud` of the tokens, whose keys are at `keySet`; the fields let the request through. */
  issuer: string
  keySet: { url: URL; headers: Record<string, string> }
  now: () => number
  /** The user's id if the database has the session. */
  userOfSession: (secret: string) => Promise<string | undefined>
  cookies: { session: Cookie; memory: Cookie }
  stepsOf: (n: number) => Step[]
}

export class OtherServer {
  readonly #options: OtherServerOptions
  readonly #server = createServer((request, response) => this.#receive(request, response))
  readonly #sessions = new Map<string, { user: string; createdAt: number }>()
  readonly #agent = new Agent({ keepAlive: true })
  readonly #secret = randomBytes(32).toString('base64url')
  readonly #keys: ReturnType<typeof createRemoteJWKSet>
  #listening: Promise<number> | undefined

  constructor(options: OtherServerOptions) {
    this.#options = options
    const { url, headers } = options.keySet
    // Read once: that is the point of a public key. An unknown key id reads it again.
    this.#keys = createRemoteJWKSet(url, {
      headers,
      cooldownDuration: 0,
      cacheMaxAge: Number.POSITIVE_INFINITY,
      [customFetch]: (address, init) => noted('keys.fetch', () => fetch(address, init)),
    })
  }

  /** `n`: the number of the exchange. */
  async passOn(exchanged: readonly [IncomingMessage, ServerResponse], n: number): Promise<void> {
    this.#listening ??= new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port))
    })
    const listener: Listener = { port: await this.#listening, secret: this.#secret, agent: this.#agent }
    await passOn(exchanged, listener, [String(n)])
  }

  /** Reads the key set again. */
  async reload(): Promise<void> {
    await this.#keys.reload()
  }

  get rows(): Row[] {
    const { place } = this.#options
    const keys = (this.#keys.jwks()?.keys ?? []).map(({ kid = '', x = '' }) => ({ kid, x: String(x) }))
    const sessions = [...this.#sessions].map(([secret_hash, { user, createdAt: created_at }]) => {
      return { secret_hash, user, created_at }
    })
    return [
      ...keys.map((columns) => ({ place, table: 'public_key', columns })),
      ...sessions.map((columns) => ({ place, table: 'memory_session', columns })),
    ]
  }

  end(): void {
    this.#agent.destroy()
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const [secret = '', n] = String(request.headers[passedField.toLowerCase()]).split(' ')
    if (!equalSecrets(secret, this.#secret)) response.writeHead(403).end()
    else
      tracing(this.#options.stepsOf(Number(n)), () => {
        void this.#respond(request, response).catch(() => response.writeHead(503).end())
      })
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, way = 'key'] = /\/servers\/(memory|store)\/me$/.exec(request.url ?? '') ?? []
    if (way === 'memory' && request.method === 'POST') return this.#signIn(response)
    const user = await this.#userOf(request, way)
    const text = JSON.stringify({ server: this.#options.place, user: user ?? null })
    const fields = { 'content-type': 'application/json', 'content-length': text.length }
    response.writeHead(user === undefined ? 401 : 200, fields).end(text)
  }

  async #userOf({ headers }: IncomingMessage, way: string): Promise<string | undefined> {
    const { cookies, userOfSession } = this.#options
    if (way === 'store') return userOfSession(sessionSecret(headers.cookie, cookies.session.name) ?? '')
    if (way === 'memory') {
      const secret = sessionSecret(headers.cookie, cookies.memory.name) ?? ''
      return noted('memory.find', () => this.#sessions.get(hashOf(secret)))?.user
    }
    return this.#userOfToken(bearerToken([headers.authorization ?? '']) ?? '')
  }

  /** As examples/offline-tokens does it (RFC 9068). */
  async #userOfToken(token: string): Promise<string | undefined> {
    const { issuer, now } = this.#options
    const claimed = { issuer, audience: issuer, algorithms: ['EdDSA'], typ: 'at+jwt', currentDate: new Date(now()) }
    let user: string | undefined
    const verify = async () => {
      try {
        const { payload } = await jwtVerify(token, this.#keys, claimed)
        // A token with a scope is for the inbox alone.
        if (payload.scope === undefined) user = payload.sub
        return 'valid'
      } catch (error) {
        return error instanceof errors.JWTExpired ? 'expired' : 'invalid'
      }
    }
    await noted('signatures.check', verify, keyNamedBy(token))
    return user
  }

  #signIn(response: ServerResponse): void {
    const secret = randomBytes(32).toString('base64url')
    const { now, cookies } = this.#options
    this.#sessions.set(hashOf(secret), { user: 'visitor', createdAt: now() })
    response.writeHead(204, { 'set-cookie': cookieText(cookies.memory, secret) }).end()
  }
}

/** What the header of the token says: who forged it can write anything there. */
function keyNamedBy(token: string): Pick<Step, 'algorithm' | 'kid'> {
  try {
    const { alg, kid } = JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString())
    return { algorithm: String(alg).slice(0, 100), kid: String(kid).slice(0, 100) }
  } catch {
    return {}
  }
}
