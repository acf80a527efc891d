// The requests that the service passes on: to the servers of a world, or to read and to change a world (api.ts). Before anything else it
// checks that the service has sent them, and takes away what the service has added.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { iso } from '../../server/basics/clock.ts'
import { CarillonError, noSuchRoute } from '../../server/basics/errors.ts'
import { otherSiteOf } from '../../server/demonstration/demonstration-page.routes.ts'
import { passedField } from '../../server/demonstration/pass-on.ts'
import { cookieText, sessionSecret } from '../../server/http/request/credentials.ts'
import { isCrossSite } from '../../server/http/requests.ts'
import { envelope } from '../../server/http/response/failure.ts'
import { securityHeaders } from '../../server/http/response/security-headers.ts'
import { equalSecrets } from '../../server/sealing/secrets.ts'
import type { State, Target } from './api.ts'
import { Body } from './body.ts'
import { act, type Wanted } from './controls.ts'
import { otherSitePage } from './other-site.ts'
import type { ChildSettings } from './settings.ts'
import type { Passed, World } from './world.ts'
import type { Worlds } from './worlds.ts'

/** `by`: only this process itself sends as anybody else than the browser. */
type Exchanged = { request: IncomingMessage; response: ServerResponse; body: Body; address: string; by: Passed['by'] }

/** A control has at most four fields, one of them a token. */
const maxBodyBytes = 8 * 1024

export class Requests {
  readonly #worlds: Worlds
  readonly #secret: string
  readonly #place: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #port: number

  /** `port`: where this process listens. */
  constructor(worlds: Worlds, { secret, prefix, url, hstsSubdomains }: ChildSettings, port: number) {
    this.#worlds = worlds
    this.#secret = secret
    this.#place = `${prefix}/demonstration/`
    this.#headers = securityHeaders({ isHttps: url.startsWith('https:'), hstsSubdomains })
    this.#port = port
  }

  /** Before its body arrives: the transcript has a copy of it, also if nothing reads it. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    const body = copyOfBody(request)
    this.#route(request, response, body).catch((error: unknown) => this.#refuse(response, error))
  }

  /** Where this process itself reaches a path of the world, and the facts of a request from there. */
  sentTo(path: string): URL {
    return new URL(`http://127.0.0.1:${this.#port}${this.#place}${path}`)
  }

  facts(address: string, by: string): string {
    return `${this.#secret} ${address} ${by}`
  }

  async #route(request: IncomingMessage, response: ServerResponse, body: Body): Promise<void> {
    const passed = this.#takePassed(request)
    // The world sees the visitor's address, and not that of the service.
    Object.defineProperty(request.socket, 'remoteAddress', { value: passed.address, configurable: true })
    const exchanged = { request, response, body, ...passed }
    const url = request.url ?? ''
    const path = url.slice(url.indexOf(this.#place) + this.#place.length)
    const [, to, rest = ''] = /^(service|other-server|servers)(\/.*)$/.exec(path) ?? []
    if (to !== undefined) return this.#pass(exchanged, to as Target, rest)
    const [name = '', query] = path.split('?', 2)
    const [, n] = /^exchanges\/(\d+)$/.exec(name) ?? []
    switch (`${request.method} ${n === undefined ? name : 'exchange'}`) {
      case 'POST visits':
        return this.#start(exchanged)
      case 'GET visit':
        return this.#send(response, this.#stateOf(this.#worldOf(request), request))
      case 'GET exchange':
        return this.#send(response, this.#worldOf(request).exchange(Number(n)))
      case 'POST controls':
        return this.#control(exchanged)
      case 'GET other-site': {
        const {
          headers: { host = '' },
        } = request
        const id = new URLSearchParams(query).get('visit') ?? ''
        return otherSitePage(response, { id, host, base: this.#worlds.visitCookie.path })
      }
      default:
        throw noSuchRoute()
    }
  }

  /** Throws FORBIDDEN if the request comes from another process. What follows the fields of the visitor goes. */
  #takePassed({ rawHeaders, headers }: IncomingMessage): Pick<Exchanged, 'address' | 'by'> {
    const at = rawHeaders.lastIndexOf(passedField)
    const [secret = '', address = '', by = 'browser'] = (rawHeaders[at + 1] ?? '').split(' ')
    if (at < 0 || at % 2 === 1 || !equalSecrets(secret, this.#secret))
      throw new CarillonError('FORBIDDEN', 'Only the service reaches this process')
    rawHeaders.splice(at)
    delete headers[passedField.toLowerCase()]
    return { address, by: by as Passed['by'] }
  }

  async #pass({ request, response, body, by }: Exchanged, to: Target, rest: string): Promise<void> {
    const { path, visit } = targetOf(request.method, rest)
    const id = request.headers['carillon-visit'] ?? visit
    const world = typeof id === 'string' ? this.#worlds.ofId(id) : this.#ownWorld(request)
    if (world === undefined) throw noSuchVisit()
    await world.serve([request, response], { to, path, body, by: visit === undefined ? by : 'other-site' })
  }

  async #start({ request, response, address }: Exchanged): Promise<void> {
    refuseCrossSite(request)
    const { world, secret } = await this.#worlds.open(address, this.#ownWorld(request))
    response.statusCode = 201
    response.setHeader('set-cookie', cookieText(this.#worlds.visitCookie, secret))
    this.#send(response, this.#stateOf(world, request))
  }

  async #control({ request, response }: Exchanged): Promise<void> {
    refuseCrossSite(request)
    const world = this.#worldOf(request)
    const wanted = await jsonIn(request)
    if (wanted.action === 'reset') {
      await world.reset()
      return this.#send(response, this.#stateOf(world, request))
    }
    const { cookie: cookieHeader, host = '' } = request.headers
    this.#send(response, await act(world, wanted, { cookieHeader, host, way: this }))
  }

  #stateOf(world: World, { headers: { host = '' } }: IncomingMessage): State {
    const { options, now, offsetMs, outage, rows } = world
    const { id, credentials: user, cookies, wall } = options
    const { name: cookieName, path: base } = cookies.cookie
    return {
      ...{ id, user, cookieName, base, now, offsetMs, rows },
      memoryCookieName: cookies.memoryCookie.name,
      expiresAt: iso(wall() + this.#worlds.remainingMs(world)),
      otherSite: otherSiteOf(host),
      outageEndsAt: outage.endsAt,
    }
  }

  /** The world of the visitor, by the cookie. Throws NOT_FOUND, also if the page names another one: another tab has started again. */
  #worldOf(request: IncomingMessage): World {
    const world = this.#ownWorld(request)
    const named = request.headers['carillon-visit'] ?? world?.options.id
    if (world === undefined || named !== world.options.id) throw noSuchVisit()
    return world
  }

  #ownWorld({ headers }: IncomingMessage): World | undefined {
    return this.#worlds.ofSecret(sessionSecret(headers.cookie, this.#worlds.visitCookie.name))
  }

  #send(response: ServerResponse, data: unknown): void {
    this.#end(response, JSON.stringify({ success: true, data }))
  }

  #refuse(response: ServerResponse, error: unknown): void {
    if (response.headersSent) {
      response.destroy()
      return
    }
    const known = error instanceof CarillonError ? error : new CarillonError('INTERNAL', 'The demonstration failed')
    response.statusCode = known.status
    if (known.retryAfter !== undefined) response.setHeader('retry-after', known.retryAfter)
    // What is left of the body is not read.
    response.setHeader('connection', 'close')
    this.#end(response, envelope(known, 'demonstration'))
  }

  #end(response: ServerResponse, text: string): void {
    for (const [name, value] of Object.entries(this.#headers)) response.setHeader(name, value)
    response.setHeader('content-type', 'application/json; charset=utf-8').end(text)
  }
}

/** What arrives of a body, also if nothing reads it. */
function copyOfBody(request: IncomingMessage): Body {
  const body = new Body()
  const { push } = request
  request.push = (chunk, encoding) => {
    body.add(chunk, encoding)
    return push.call(request, chunk, encoding)
  }
  return body
}

/**
 * The form of another site can send no field, and the browser no cookie with it: it names the world in the query. Not with GET: a link would
 * lead other visitors, with all their cookies, into the transcript of who made it.
 */
function targetOf(method: string | undefined, target: string): { path: string; visit: string | undefined } {
  const [, path, visit] = (method === 'POST' && /^([^?]*)\?visit=([\w-]{1,32})$/.exec(target)) || []
  return { path: path ?? target, visit }
}

/** A page of another site must not take the places, or change a world. */
function refuseCrossSite({ headers: { 'sec-fetch-site': fetchSite, origin, host } }: IncomingMessage): void {
  if (isCrossSite({ fetchSite: fetchSite as string | undefined, origin, host, allowed: [] }))
    throw new CarillonError('FORBIDDEN', 'This request comes from another site')
}

async function jsonIn(request: IncomingMessage): Promise<Wanted> {
  if (!(Number(request.headers['content-length']) <= maxBodyBytes))
    throw new CarillonError('PAYLOAD_TOO_LARGE', `The body must be at most ${maxBodyBytes} bytes`)
  const parsed: unknown = await json(request).catch(() => undefined)
  if (typeof parsed === 'object' && parsed !== null) return parsed as Wanted
  throw new CarillonError('INVALID_REQUEST', 'The body must be a JSON object')
}

function noSuchVisit(): CarillonError {
  return new CarillonError('NOT_FOUND', 'This browser has no demonstration, or it has ended', {
    remedy: 'Start one: POST demonstration/visits.',
  })
}
