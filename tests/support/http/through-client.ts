// For tests: the HTTP suite once more through the published client (TEST_CLIENT=1). A request that a method of the client
// makes is made by that method; what the method tells has to agree with the answer on the wire. All else stays with fetch.
import assert from 'node:assert/strict'
import {
  type Carillon,
  createCarillon,
  createProducer,
  type DeliveryRequest,
  isCarillonError,
  type Variant,
} from '../../../client/carillon-client.ts'
import type { HttpResponse } from '../service.ts'
import { wholeTextOf } from './whole-text.ts'

type Asked = { method: string; url: URL; headers: Headers; body: unknown; init: RequestInit }
/** Both sides of the client, and the token that the test sends, if it sends one. */
type Endpoints = { carillon: Carillon; send: (delivery: DeliveryRequest, idempotencyKey?: string) => Promise<unknown> }
type Made = (sides: Endpoints) => Promise<unknown>

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** How many requests went through the client in this process, and how many past it. */
export const passed = { through: 0, past: 0 }

/** The answer on the wire; undefined where no method of the client makes this request, and nothing was sent. */
export async function throughClient(
  address: string,
  path: string,
  init: RequestInit,
): Promise<HttpResponse | undefined> {
  const asked = read(address, path, init)
  const made = asked && methodFor(asked)
  if (asked === undefined || made === undefined) {
    passed.past++
    return undefined
  }
  passed.through++
  const responses: HttpResponse[] = []
  const told = await outcomeOf(made(endpointsFor(address, asked, responses)))
  const [response] = responses
  if (response === undefined) throw 'error' in told && isCarillonError(told.error) ? told.error.cause : told
  assert.equal(responses.length, 1, 'the client asked more than once')
  agrees(asked, told, response)
  return response
}

type Told = { value: unknown } | { error: unknown }

function outcomeOf(promise: Promise<unknown>): Promise<Told> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
}

/** Undefined where fetch would tidy it up, or where it is no request with text. */
function read(address: string, path: string, init: RequestInit): Asked | undefined {
  const url = URL.parse(path, address)
  if (url === null || url.href !== address + path || !['string', 'undefined'].includes(typeof init.body))
    return undefined
  const headers = new Headers(init.headers)
  const { method = 'GET', body } = init
  if (body === undefined) return headers.has('content-type') ? undefined : { method, url, headers, body, init }
  if (!/^application\/json(;|$)/.test(headers.get('content-type') ?? '')) return undefined
  try {
    return { method, url, headers, body: JSON.parse(body as string), init }
  } catch {
    return undefined
  }
}

function endpointsFor(address: string, asked: Asked, responses: HttpResponse[]): Endpoints {
  const fetch = recorded(address, asked, responses)
  const token = bearerIn(asked)
  return {
    carillon: createCarillon({ baseUrl: address, fetch, auth: token === undefined ? 'cookie' : () => token }),
    send: (delivery, idempotencyKey) =>
      createProducer({ baseUrl: address, fetch, key: token ?? '' }).send(delivery, { idempotencyKey, attempts: 1 }),
  }
}

function bearerIn({ headers }: Asked): string | undefined {
  return /^Bearer ([!-~]+)$/.exec(headers.get('authorization') ?? '')?.[1]
}

/** What the client sends has to be what the test asks, and goes out with the test's own header fields. */
function recorded(address: string, asked: Asked, responses: HttpResponse[]) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const sent = new URL(url)
    assert.equal(init.method, asked.method)
    assert.equal(sent.origin + sent.pathname, new URL(address).origin + asked.url.pathname)
    assert.deepEqual([...sent.searchParams].sort(), [...asked.url.searchParams].sort())
    if (asked.body === undefined) assert.equal(init.body, null)
    else assert.deepEqual(JSON.parse(init.body as string), asked.body)
    const own = new Headers(init.headers)
    if (bearerIn(asked)) assert.equal(own.get('authorization'), asked.headers.get('authorization'))
    if (asked.body !== undefined) assert.equal(own.get('content-type'), 'application/json')
    if (`${asked.method} ${asked.url.pathname}` === 'POST /api/notifications') namesItsDelivery(asked, own)
    const response = await fetch(url, { ...init, ...asked.init, body: init.body ?? null, headers: asked.headers })
    const text = await wholeTextOf(response)
    const { status, headers } = response
    responses.push({ status, headers, text, json: () => JSON.parse(text) })
    return new Response(text === '' ? null : text, { status, headers })
  }
}

/** By the key that the test gave, or by one of its own. */
function namesItsDelivery({ headers }: Asked, own: Headers): void {
  const key = own.get('idempotency-key')
  if (headers.has('idempotency-key')) assert.equal(key, headers.get('idempotency-key'))
  else assert.match(key ?? '', uuid)
}

/** Throws AssertionError where what the method returned or threw is not what the answer says. */
function agrees({ url }: Asked, told: Told, { status, headers, json }: HttpResponse): void {
  if ('value' in told) {
    assert.ok(status >= 200 && status < 300, `${url.pathname}: the client took status ${status} for a success`)
    const isBare = url.pathname === '/login' || url.pathname === '/token/renew'
    assert.deepEqual(told.value, status === 204 ? undefined : isBare ? json() : json().data)
    return
  }
  const { error } = told
  assert.ok(isCarillonError(error), `${url.pathname}: ${error}`)
  assert.equal(error.status, status)
  if (status === 304) {
    assert.equal(error.code, 'UNREADABLE')
    return
  }
  const { code, message, requestId, details } = json().error
  assert.deepEqual([error.code, error.message, error.requestId, error.details], [code, message, requestId, details])
  assert.equal(error.retryAfter, headers.has('retry-after') ? Number(headers.get('retry-after')) : undefined)
}

/** The method that makes this request, with its arguments; undefined where there is none. */
function methodFor(asked: Asked): Made | undefined {
  const { method, url } = asked
  const { pathname } = url
  const one = /^\/api\/notifications\/([^/]+)(\/read)?$/.exec(pathname)
  const fixed = routes[`${method} ${pathname}`]
  if (fixed !== undefined) return fixed(asked)
  if (one === null || asked.body !== undefined || url.search !== '') return undefined
  const id = decoded(one[1] as string)
  // What is no id is no request of the client's.
  if (id === undefined || !uuid.test(id)) return undefined
  if (method === 'GET' && one[2] === undefined) return ({ carillon }) => carillon.inbox.get(id)
  if (method === 'PATCH' && one[2] !== undefined) return ({ carillon }) => carillon.inbox.read(id)
  return undefined
}

const routes: Record<string, (asked: Asked) => Made | undefined> = {
  'GET /routeRestreinte': plain(({ carillon }) => carillon.restricted()),
  'GET /api/me': plain(({ carillon }) => carillon.me()),
  'POST /logout': plain(({ carillon }) => carillon.logout()),
  'GET /api/notifications/counts': plain(({ carillon }) => carillon.inbox.counts()),
  // The client presents no token at a sign-in.
  'POST /login': ({ body, headers, url }) =>
    url.search === '' && isLogin(body) && !headers.has('authorization')
      ? ({ carillon }) => carillon.login(body)
      : undefined,
  'POST /token/renew': (asked) => {
    const token = bearerIn(asked)
    return token === undefined ? undefined : plain(({ carillon }) => carillon.renew(token))(asked)
  },
  'GET /api/notifications': (asked) => {
    const query = queryOf(asked, { page: number, limit: number, before: text, status: unread })
    return query && (({ carillon }) => carillon.inbox.list(query))
  },
  'GET /api/notifications/changes': (asked) => {
    const query = queryOf(asked, { since: text, limit: number, wait: number })
    if (query?.since === undefined) return undefined
    const { since, limit, wait } = query
    return ({ carillon }) => carillon.inbox.changes({ since, limit, wait })
  },
  'POST /api/notifications/read-all': (asked) => {
    const query = queryOf(asked, { through: text })
    return query && (({ carillon }) => carillon.inbox.readAll(query))
  },
  'POST /api/notifications': (asked) => {
    const { body, headers, init, url } = asked
    if (url.search !== '' || bearerIn(asked) === undefined || !isDelivery(body)) return undefined
    // Another spelling of the same is another body to an idempotency key.
    if (JSON.stringify(body) !== init.body) return undefined
    return ({ send }) => send(body, headers.get('idempotency-key') ?? undefined)
  },
}

/** A call without body and query. */
function plain(made: Made): (asked: Asked) => Made | undefined {
  return ({ body, url }) => (body === undefined && url.search === '' ? made : undefined)
}

/** As an option takes it; undefined where it does not. */
type Reader<Value> = (text: string) => Value | undefined
const text: Reader<string> = (value) => value
const number: Reader<number> = (value) => (String(Number(value)) === value ? Number(value) : undefined)
const unread: Reader<'unread'> = (value) => (value === 'unread' ? value : undefined)

/** The query as options; undefined where a name is not one of them, or comes twice, or its value is not of its type. */
function queryOf<Readers extends Record<string, Reader<unknown>>>({ body, url }: Asked, readers: Readers) {
  if (body !== undefined || url.href.endsWith('?')) return undefined
  const options: Record<string, unknown> = Object.create(null)
  for (const [name, value] of url.searchParams) {
    options[name] = name in options || !Object.hasOwn(readers, name) ? undefined : readers[name]?.(value)
    if (options[name] === undefined) return undefined
  }
  return options as { [Name in keyof Readers]?: NonNullable<ReturnType<Readers[Name]>> }
}

function decoded(segment: string): string | undefined {
  try {
    const id = decodeURIComponent(segment)
    return encodeURIComponent(id) === segment ? id : undefined
  } catch {
    return undefined
  }
}

type Shape = Record<string, (value: unknown) => boolean>

function isShaped(value: unknown, required: Shape, optional: Shape = {}): boolean {
  if (!isObject(value)) return false
  const known = { ...required, ...optional }
  const hasAll = Object.keys(required).every((name) => Object.hasOwn(value, name))
  return hasAll && Object.entries(value).every(([name, field]) => Object.hasOwn(known, name) && known[name]?.(field))
}

const isText = (value: unknown) => typeof value === 'string'
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isVariant = (value: unknown) => value === 'stateful' || value === 'stateless'

function isLogin(body: unknown): body is { username: string; password: string; variant?: Variant } {
  return isShaped(body, { username: isText, password: isText }, { variant: isVariant })
}

const isRecipient = (value: unknown) => isShaped(value, { username: isText }) || isShaped(value, { userId: isText })
const content = { body: isText, url: isText, category: isText, data: isObject, key: isText }

function isDelivery(body: unknown): body is DeliveryRequest {
  const isRecipients = (value: unknown) => Array.isArray(value) && value.every(isRecipient)
  return isShaped(body, { recipients: isRecipients, title: isText }, content)
}
