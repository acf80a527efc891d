// Runs the HTTP suite through the published client (TEST_CLIENT=1): a method that the client has
// sends its request, and its result must agree with the response on the wire.
import assert from 'node:assert/strict'
import {
  type Carillon,
  createCarillon,
  createProducer,
  type DeliveryRequest,
  isCarillonError,
  type ListStatus,
  type NotificationChange,
  type Producer,
  type Variant,
} from '../../../client/carillon-client.ts'
import type { HttpResponse } from '../service.ts'
import { patientFetch } from './patient-fetch.ts'
import { wholeTextOf } from './whole-text.ts'

type SentRequest = { method: string; url: URL; headers: Headers; body: unknown; init: RequestInit }
type Interfaces = { carillon: Carillon; producer: Producer }
type Made = (interfaces: Interfaces) => Promise<unknown>

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** How many requests of this process went through the client, and how many did not. */
export const passed = { through: 0, past: 0 }

/** Returns undefined, with nothing sent, if the client has no method for the request. */
export async function throughClient(
  address: string,
  path: string,
  init: RequestInit,
): Promise<HttpResponse | undefined> {
  const sent = read(address, path, init)
  const made = sent && methodFor(sent)
  if (sent === undefined || made === undefined) {
    passed.past++
    return undefined
  }
  passed.through++
  const responses: HttpResponse[] = []
  const result = await outcomeOf(made(interfacesFor(address, sent, responses)))
  // A request with a cookie that was refused is sent twice.
  if (responses.length === 2 && responses[0]?.status === 401 && bearerIn(sent) === undefined)
    responses.shift()
  const [response] = responses
  if (response === undefined)
    throw 'error' in result && isCarillonError(result.error) ? result.error.cause : result
  assert.equal(responses.length, 1, 'the client sent more than one request')
  agrees(sent, result, response)
  return response
}

type Result = { value: unknown } | { error: unknown }

function outcomeOf(promise: Promise<unknown>): Promise<Result> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
}

/** fetch would normalize some requests; those, and bodies that are not text, give undefined. */
function read(address: string, path: string, init: RequestInit): SentRequest | undefined {
  const url = URL.parse(path, address)
  if (
    url === null ||
    url.href !== address + path ||
    !['string', 'undefined'].includes(typeof init.body)
  )
    return undefined
  const headers = new Headers(init.headers)
  const { method = 'GET', body } = init
  if (body === undefined)
    return headers.has('content-type') ? undefined : { method, url, headers, body, init }
  if (!/^application\/json(;|$)/.test(headers.get('content-type') ?? '')) return undefined
  try {
    return { method, url, headers, body: JSON.parse(body as string), init }
  } catch {
    return undefined
  }
}

function interfacesFor(address: string, sent: SentRequest, responses: HttpResponse[]): Interfaces {
  const fetch = recorded(address, sent, responses)
  const token = bearerIn(sent)
  return {
    carillon: createCarillon({
      baseUrl: address,
      fetch,
      auth: token === undefined ? 'cookie' : () => token,
    }),
    producer: createProducer({ baseUrl: address, fetch, key: token ?? 'none' }),
  }
}

function bearerIn({ headers }: SentRequest): string | undefined {
  return /^Bearer ([!-~]+)$/.exec(headers.get('authorization') ?? '')?.[1]
}

/** The client must send the test's request, with the test's own header fields. */
function recorded(address: string, sent: SentRequest, responses: HttpResponse[]) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const actual = new URL(url)
    assert.equal(init.method, sent.method)
    assert.equal(actual.origin + actual.pathname, new URL(address).origin + sent.url.pathname)
    assert.deepEqual([...actual.searchParams].sort(), [...sent.url.searchParams].sort())
    if (sent.body === undefined) assert.equal(init.body, null)
    else assert.deepEqual(JSON.parse(init.body as string), sent.body)
    const own = new Headers(init.headers)
    if (bearerIn(sent)) assert.equal(own.get('authorization'), sent.headers.get('authorization'))
    if (sent.body !== undefined) assert.equal(own.get('content-type'), 'application/json')
    if (`${sent.method} ${sent.url.pathname}` === 'POST /api/notifications')
      namesItsDelivery(sent, own)
    const response = await patientFetch(url, {
      ...init,
      ...sent.init,
      body: init.body ?? null,
      headers: sent.headers,
    })
    const text = await wholeTextOf(response)
    const { status, headers } = response
    responses.push({ status, headers, text, json: () => JSON.parse(text) })
    return new Response(text === '' ? null : text, { status, headers })
  }
}

/** The Idempotency-Key is the test's own, or one that the client created. */
function namesItsDelivery({ headers }: SentRequest, own: Headers): void {
  const key = own.get('idempotency-key')
  if (headers.has('idempotency-key')) assert.equal(key, headers.get('idempotency-key'))
  else assert.match(key ?? '', uuid)
}

/** Throws AssertionError if what the method returned or threw disagrees with the response. */
function agrees(
  { url }: SentRequest,
  result: Result,
  { status, headers, json }: HttpResponse,
): void {
  if ('value' in result) {
    assert.ok(
      status >= 200 && status < 300,
      `${url.pathname}: the client took status ${status} for a success`,
    )
    const isBare = url.pathname === '/login' || url.pathname === '/token/renew'
    const content = () => (isBare ? json() : json().data)
    assert.deepEqual(result.value, status === 204 ? undefined : content())
    return
  }
  const { error } = result
  assert.ok(isCarillonError(error), `${url.pathname}: ${error}`)
  assert.equal(error.status, status)
  if (status === 304) {
    assert.equal(error.code, 'UNREADABLE')
    return
  }
  const { code, message, requestId, details } = json().error
  const [first] = details ?? []
  const sentence = first ? `${message} (${first.field}: ${first.reason})` : message
  assert.deepEqual(
    [error.code, error.message, error.requestId, error.details],
    [code, sentence, requestId, details],
  )
  assert.equal(
    error.retryAfter,
    headers.has('retry-after') ? Number(headers.get('retry-after')) : undefined,
  )
}

const acts = new Map<string | undefined, 'read' | 'markUnread' | 'archive' | 'unarchive'>([
  ['read', 'read'],
  ['unread', 'markUnread'],
  ['archive', 'archive'],
  ['unarchive', 'unarchive'],
])

/** Returns undefined if the client has no method for this request. */
function methodFor(sent: SentRequest): Made | undefined {
  const { method, url } = sent
  const { pathname } = url
  const one = /^\/api\/notifications\/([^/]+)(?:\/([a-z]+))?$/.exec(pathname)
  const fixed = routes[`${method} ${pathname}`]
  if (fixed !== undefined) return fixed(sent)
  if (pathname.startsWith('/api/notifications/by-key/')) return byKey(sent)
  if (one === null || url.search !== '') return undefined
  const id = decoded(one[1] as string)
  // The client sends only valid ids.
  if (id === undefined || !uuid.test(id)) return undefined
  if (method === 'PATCH' && one[2] === 'snooze' && isShaped(sent.body, { until: isText }))
    return ({ carillon }) => carillon.inbox.snooze(id, (sent.body as { until: string }).until)
  if (sent.body !== undefined) return undefined
  if (method === 'GET' && one[2] === undefined) return ({ carillon }) => carillon.inbox.get(id)
  if (method === 'DELETE' && one[2] === undefined)
    return ({ carillon }) => carillon.inbox.remove(id)
  const act = acts.get(one[2])
  return method === 'PATCH' && act ? ({ carillon }) => carillon.inbox[act](id) : undefined
}

function byKey(sent: SentRequest): Made | undefined {
  const { method, url, body } = sent
  const [, segment = '', act] =
    /^\/api\/notifications\/by-key\/([^/]+)(\/resolve)?$/.exec(url.pathname) ?? []
  const key = decoded(segment)
  if (!key || url.search !== '' || bearerIn(sent) === undefined) return undefined
  const isPlain = body === undefined
  if (method === 'PATCH' && !act && isShaped(body, {}, { title: isText, ...content }))
    return ({ producer }) => producer.updateByKey(key, body as NotificationChange)
  if (method === 'DELETE' && !act && isPlain) return ({ producer }) => producer.removeByKey(key)
  return method === 'POST' && act && isPlain
    ? ({ producer }) => producer.resolveByKey(key)
    : undefined
}

const routes: Record<string, (sent: SentRequest) => Made | undefined> = {
  'GET /routeRestreinte': plain(({ carillon }) => carillon.restricted()),
  // With a token, the client requests GET /api/me and returns null for a 401.
  'GET /api/session': (sent) =>
    bearerIn(sent) === undefined ? plain(({ carillon }) => carillon.me())(sent) : undefined,
  'POST /logout': plain(({ carillon }) => carillon.logout()),
  'GET /api/notifications/counts': plain(({ carillon }) => carillon.inbox.counts()),
  // The client sends no token at a sign-in.
  'POST /login': ({ body, headers, url }) =>
    url.search === '' && isLogin(body) && !headers.has('authorization')
      ? ({ carillon }) => carillon.login(body)
      : undefined,
  'POST /token/renew': (sent) => {
    const token = bearerIn(sent)
    return token === undefined ? undefined : plain(({ carillon }) => carillon.renew(token))(sent)
  },
  'GET /api/notifications': (sent) => {
    const category = sent.url.searchParams.getAll('category')
    const query = queryOf(withoutCategories(sent), {
      page: number,
      limit: number,
      before: text,
      status: listStatus,
    })
    return query && (({ carillon }) => carillon.inbox.list({ ...query, category }))
  },
  'GET /api/notifications/changes': (sent) => {
    const query = queryOf(sent, { since: text, limit: number, wait: number })
    if (query?.since === undefined) return undefined
    const { since, limit, wait } = query
    return ({ carillon }) => carillon.inbox.changes({ since, limit, wait })
  },
  'GET /api/me/preferences': plain(({ carillon }) => carillon.inbox.preferences()),
  'POST /api/notifications/archive-read': plain(({ carillon }) => carillon.inbox.archiveRead()),
  'POST /api/notifications/seen': ({ body, url }) =>
    url.search === '' && isShaped(body, { throughSeq: (value) => typeof value === 'number' })
      ? ({ carillon }) => carillon.inbox.seen((body as { throughSeq: number }).throughSeq)
      : undefined,
  'POST /api/notifications/undo': plain(({ carillon }) => carillon.inbox.undo()),
  'POST /api/notifications/read-all': (sent) => {
    const category = sent.url.searchParams.getAll('category')
    const query = queryOf(withoutCategories(sent), { throughSeq: number, through: text })
    return query && (({ carillon }) => carillon.inbox.readAll({ ...query, category }))
  },
  'POST /api/notifications': (sent) => {
    const { body, headers, init, url } = sent
    if (url.search !== '' || bearerIn(sent) === undefined || !isDelivery(body)) return undefined
    // The bytes of the body matter to an idempotency key.
    if (JSON.stringify(body) !== init.body) return undefined
    const idempotencyKey = headers.get('idempotency-key') ?? undefined
    return ({ producer }) => producer.send(body, { idempotencyKey, attempts: 1 })
  },
}

function plain(made: Made): (sent: SentRequest) => Made | undefined {
  return ({ body, url }) => (body === undefined && url.search === '' ? made : undefined)
}

/** Returns undefined if the text is not of the option's type. */
type Reader<Value> = (text: string) => Value | undefined
const text: Reader<string> = (value) => value
const number: Reader<number> = (value) =>
  String(Number(value)) === value ? Number(value) : undefined
const listStatus: Reader<ListStatus> = (value) =>
  (['unread', 'read', 'archived', 'snoozed', 'all'] as const).find((status) => status === value)

function withoutCategories(sent: SentRequest): SentRequest {
  if (!sent.url.searchParams.has('category')) return sent
  const url = new URL(sent.url)
  url.searchParams.delete('category')
  return { ...sent, url }
}

/** Returns undefined if a name is unknown or repeated, or a value has the wrong type. */
function queryOf<Readers extends Record<string, Reader<unknown>>>(
  { body, url }: SentRequest,
  readers: Readers,
) {
  if (body !== undefined || url.href.endsWith('?')) return undefined
  const options: Record<string, unknown> = Object.create(null)
  for (const [name, value] of url.searchParams) {
    options[name] =
      name in options || !Object.hasOwn(readers, name) ? undefined : readers[name]?.(value)
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
  return (
    hasAll &&
    Object.entries(value).every(
      ([name, field]) => Object.hasOwn(known, name) && known[name]?.(field),
    )
  )
}

const isText = (value: unknown) => typeof value === 'string'
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isVariant = (value: unknown) => value === 'stateful' || value === 'stateless'

function isLogin(body: unknown): body is { username: string; password: string; variant?: Variant } {
  return isShaped(body, { username: isText, password: isText }, { variant: isVariant })
}

const isRecipient = (value: unknown) =>
  isShaped(value, { username: isText }) || isShaped(value, { userId: isText })
const content = { body: isText, url: isText, category: isText, data: isObject, key: isText }

function isDelivery(body: unknown): body is DeliveryRequest {
  const isRecipients = (value: unknown) => Array.isArray(value) && value.every(isRecipient)
  return isShaped(body, { recipients: isRecipients, title: isText }, content)
}
