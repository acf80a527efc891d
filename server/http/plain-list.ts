// Sends a plain `GET /api/notifications` its page before Fastify, which would add a fifth to the time of a kept page
// (docs/decisions/0058-the-list-before-fastify.md). A request is plain if no request check and no schema can refuse it. Any other
// goes to Fastify, and so does a plain one whose guard or handler refuses it: each refusal is made in one place.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { notAuthenticated } from '../errors.ts'
import type { ListQuery } from '../inbox/inbox.ts'
import { isDraining } from './connections/drain.ts'
import type { Dependencies } from './dependencies.ts'
import { isHost } from './request/checks.ts'
import { authenticateBy } from './request/guards.ts'
import type { IsKnownHost } from './request/origin/known-hosts.ts'
import { parsePlain } from './request/query.ts'
import { isKnown } from './response/etag.ts'
import { jsonType } from './response/send.ts'
import { uncheckedQuery } from './routes/notifications.ts'

const path = '/api/notifications'
/** Most clients request the same few pages. A client can make up any number of URLs, so the memory is bounded. */
const maxRemembered = 100

type Needs = {
  dependencies: Dependencies
  /** Of every response. */
  headers: Readonly<Record<string, string>>
  isKnownHost: IsKnownHost
}

/** The fields that the guard and the handler of the list read. */
type Fields = { host?: string; cookie?: string; authorization?: string; 'if-none-match'?: string }
type PlainList = { query: ListQuery; fields: Fields }

/** What plain requests were refused with: Fastify does not verify their proofs again. */
const refusals = new WeakMap<IncomingMessage, unknown>()

/** Throws what a request was refused with before it came to Fastify. */
export function throwEarlyRefusal(raw: IncomingMessage): void {
  if (refusals.has(raw)) throw refusals.get(raw)
}

/** A plain list does not wait for its turn either (connections/requests-in-turns.ts): it takes less time than the requests that do. */
export function sendListsFirst(app: FastifyInstance, needs: Needs): void {
  const lists = new PlainLists(needs)
  const [next] = app.server.listeners('request') as [(raw: IncomingMessage, response: ServerResponse) => void]
  app.server.removeListener('request', next)
  app.server.on('request', (raw, response) => {
    const list = raw.url?.startsWith(path) && !isDraining(app) ? lists.find(raw, response) : undefined
    if (list === undefined) next(raw, response)
    else
      lists.send(list, response).catch((refusal: unknown) => {
        refusals.set(raw, refusal)
        next(raw, response)
      })
  })
}

class PlainLists {
  readonly #dependencies: Dependencies
  readonly #isKnownHost: IsKnownHost
  /** Names and values in turn. */
  readonly #headers: readonly string[]
  /** The queries of first pages by their URL: parsing one costs 1 us. */
  readonly #queries = new Map<string, ListQuery>()

  constructor({ dependencies, headers, isKnownHost }: Needs) {
    this.#dependencies = dependencies
    this.#isKnownHost = isKnownHost
    const { allowedOrigins } = dependencies
    // As allowOrigin does for a request without `Origin`.
    this.#headers = Object.entries({ ...headers, ...(allowedOrigins.length > 0 && { vary: 'Origin' }) }).flat()
  }

  /** Undefined if anything about the request needs a check. */
  find(
    { method, httpVersion, url = '', rawHeaders }: IncomingMessage,
    { socket }: ServerResponse,
  ): PlainList | undefined {
    // Without a socket, an earlier response on this connection is not finished: the client pipelines.
    if (method !== 'GET' || httpVersion !== '1.1' || socket === null) return undefined
    const query = this.#queryOf(url)
    const fields = query && fieldsOf(rawHeaders)
    if (query === undefined || fields === undefined) return undefined
    const { host, authorization } = fields
    if (host === undefined || !isHost(host)) return undefined
    // See refuseMisdirected.
    return authorization !== undefined || this.#isKnownHost(host) ? { query, fields } : undefined
  }

  /** Sends the page. Throws the refusal, and then has sent nothing. */
  async send({ query, fields }: PlainList, response: ServerResponse): Promise<void> {
    const { inbox } = this.#dependencies
    const subject = await authenticateBy(this.#dependencies, fields, (userId) => inbox.pageToRead(userId, query))
    if (subject === null) throw notAuthenticated()
    const { json, bytes, etag } = await inbox.list(subject, query)
    if (isKnown(fields['if-none-match'], etag)) response.writeHead(304, [...this.#headers, 'etag', etag]).end()
    else {
      const ofPage = ['etag', etag, 'content-type', jsonType, 'content-length', String(bytes)]
      // Of ASCII both encodings are the same bytes, and `latin1` does not look at each character first.
      response.writeHead(200, [...this.#headers, ...ofPage]).end(json, json.length === bytes ? 'latin1' : 'utf8')
    }
  }

  #queryOf(url: string): ListQuery | undefined {
    const known = this.#queries.get(url)
    if (known !== undefined) return known
    const query = queryOf(url)
    if (query === undefined || 'before' in query) return query
    if (this.#queries.size >= maxRemembered) this.#queries.clear()
    this.#queries.set(url, query)
    return query
  }
}

/** Undefined if the query's schema could refuse it. */
function queryOf(url: string): ListQuery | undefined {
  if (url.length === path.length) return uncheckedQuery({})
  if (url[path.length] !== '?') return undefined
  const query = parsePlain(url.slice(path.length + 1))
  return query && uncheckedQuery(query)
}

/** A check, CORS or a body's parser reads these. */
const checked: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'origin',
  'transfer-encoding',
])
const taken: ReadonlySet<string> = new Set<keyof Fields>(['host', 'cookie', 'authorization', 'if-none-match'])
/** Most fields of a browser have another length than these, and need no look at their name. */
const lengths: ReadonlySet<number> = new Set([...checked, ...taken].map(({ length }) => length))

/** Undefined if a field needs a check, or is sent twice. Of the raw fields: Node makes an object of them at the first access. */
function fieldsOf(rawHeaders: readonly string[]): Fields | undefined {
  const fields: Fields = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const written = rawHeaders[i] as string
    if (!lengths.has(written.length)) continue
    const name = written.toLowerCase()
    if (checked.has(name) || name in fields) return undefined
    if (taken.has(name)) fields[name as keyof Fields] = rawHeaders[i + 1] as string
  }
  return fields
}
