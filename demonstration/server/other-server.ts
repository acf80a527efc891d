// Another application's server: with only the public key, or behind the balancer. With the way
// `store`, it shares the database with the service, but never memory.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, errors, jwtVerify } from 'jose'
import { hashOf } from '../../server/basics/secrets.ts'
import { passOn } from '../../server/demonstration/pass-on.ts'
import { bearerToken, cookieText, sessionSecret } from '../../server/http/request/credentials.ts'
import type { Cookie } from '../../server/http/site.ts'
import type { Step } from './api.ts'
import { noted, traced } from './trace.ts'
import { takeFacts } from './transcript.ts'
import type { ComposedService, WorldOptions } from './world.ts'

type Options = {
  name: string
  service: Pick<ComposedService, 'config' | 'sessions' | 'now'>
  world: Pick<WorldOptions, 'id' | 'cookies' | 'way'>
  stepsOf: (n: number) => Step[]
}

export class OtherServer {
  readonly #options: Options
  readonly #server = createServer({ keepAliveTimeout: 0 }, (request, response) =>
    this.#receive(request, response),
  )
  readonly #sessions = new Set<string>()
  readonly #agent = new Agent({ keepAlive: true })
  readonly #secret = randomBytes(32).toString('base64url')
  readonly keys: ReturnType<typeof createRemoteJWKSet>
  #listening: Promise<unknown> | undefined

  constructor(options: Options) {
    this.#options = options
    const { id, way } = options.world
    const url = way.urlOf('service/.well-known/jwks.json')
    const headers = { 'Carillon-Visit': id, ...way.fieldsOf('127.0.0.1', 'machine') }
    // Keys are read once, which is the point of a public key. An unknown key id reads them again.
    this.keys = createRemoteJWKSet(url, {
      headers,
      cooldownDuration: 0,
      cacheMaxAge: Number.POSITIVE_INFINITY,
      [customFetch]: (address, init) => noted('keys.fetch', () => fetch(address, init)),
    })
  }

  async passOn(exchanged: readonly [IncomingMessage, ServerResponse], n: number): Promise<void> {
    this.#listening ??= once(this.#server.listen(0, '127.0.0.1'), 'listening')
    await this.#listening
    const { port } = this.#server.address() as AddressInfo
    await passOn(exchanged, { port, secret: this.#secret, agent: this.#agent }, String(n))
  }

  end(): void {
    this.#agent.destroy()
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const [n] = takeFacts(request, this.#secret) ?? []
    if (n === undefined) response.writeHead(403).end()
    else
      traced.run(this.#options.stepsOf(Number(n)), () => {
        void this.#respond(request, response).catch(() => response.writeHead(503).end())
      })
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, way = 'key'] = /\/servers\/(memory|store)\/me$/.exec(request.url ?? '') ?? []
    if (way === 'memory' && request.method === 'POST') return this.#signIn(response)
    const user = await this.#userOf(request, way)
    const text = JSON.stringify({ server: this.#options.name, user: user ?? null })
    const fields = { 'content-type': 'application/json', 'content-length': text.length }
    response.writeHead(user === undefined ? 401 : 200, fields).end(text)
  }

  async #userOf({ headers }: IncomingMessage, way: string): Promise<string | undefined> {
    const { service, world } = this.#options
    const { cookies } = world
    const secretOf = ({ name }: Cookie) => sessionSecret(headers.cookie, name) ?? ''
    if (way === 'store') return (await service.sessions.verify(secretOf(cookies.cookie)))?.userId
    const isKnown = this.#sessions.has(hashOf(secretOf(cookies.memoryCookie)))
    if (way === 'memory') return isKnown ? 'visitor' : undefined
    return this.#userOfToken(bearerToken([headers.authorization ?? '']) ?? '')
  }

  /** Verifies as examples/offline-tokens does (RFC 9068). Tokens with a scope open only inboxes. */
  async #userOfToken(token: string): Promise<string | undefined> {
    const { config, now } = this.#options.service
    const issuer = config.publicUrl
    const claimed = {
      issuer,
      audience: issuer,
      algorithms: ['EdDSA'],
      typ: 'at+jwt',
      currentDate: new Date(now()),
    }
    let user: string | undefined
    const verify = async () => {
      try {
        const { payload } = await jwtVerify(token, this.keys, claimed)
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
    this.#sessions.add(hashOf(secret))
    const { memoryCookie } = this.#options.world.cookies
    response.writeHead(204, { 'set-cookie': cookieText(memoryCookie, secret) }).end()
  }
}

/** A forger can write anything into the header. */
function keyNamedBy(token: string): Pick<Step, 'algorithm' | 'kid'> {
  try {
    const { alg, kid } = decodeProtectedHeader(token)
    return { algorithm: String(alg), kid: String(kid) }
  } catch {
    return {}
  }
}
