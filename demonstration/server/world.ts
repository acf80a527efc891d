// One visitor's world: a service of its own with a temporary database, own keys, cookies and clock, and other servers beside it. It passes
// requests to them and keeps the transcript. controls.ts changes what happens in it; worlds.ts decides who has one, and for how long.
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { CarillonError, overloaded } from '../../server/basics/errors.ts'
import type { Cookie } from '../../server/http/site.ts'
import { addUser } from '../../server/users/users.ts'
import type { Exchange, Place, Row, Step, Target } from './api.ts'
import type { Body } from './body.ts'
import { type ComposedService, composeWorld, type Shared } from './compose-world.ts'
import { onlyCookies } from './cookies.ts'
import { allowFrame, collectBody, requestOf, responseOf } from './exchange.ts'
import { folderPrefix } from './folders.ts'
import { OtherServer } from './other-server.ts'
import { Outage } from './outage.ts'
import { Rows } from './rows.ts'
import { tracing } from './trace.ts'

export type WorldOptions = {
  id: string
  credentials: { username: string; password: string }
  cookies: { cookie: Cookie; deviceCookie: Cookie; memoryCookie: Cookie }
  /** The folder for temporary files. */
  parent: string
  /** Milliseconds of this process. */
  wall: () => number
  monotonic: () => number
  shared: Shared
  /** Where the other servers read the key set, and with which fields. */
  keySet: (id: string) => { url: URL; headers: Record<string, string> }
  /** Runs the starts of all worlds one after the other. */
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>
}

/** `path`: as the service of the world sees it, with the query. `body` collects what arrives of the body. */
export type Passed = { to: Target; path: string; by: Exchange['by'] | 'machine'; body: Body }
/** `note` completes the exchange with what there is so far; undefined after the end of its response. */
type Kept = { exchange: Exchange & { steps: Step[] }; note: (() => void) | undefined }

/** The transcript of the last requests; an experiment has some thirty. */
const maxExchanges = 100
/** Counts those of the page's controls too. Bounds the size of the database and the processor time of one visitor. */
const maxRequests = 5_000
/** A reset takes some 150 ms of processor time. */
const requestsOfReset = 50
const places: readonly Place[] = ['other-server', 'server-1', 'server-2', 'server-3', 'server-4', 'server-5']

export class World {
  readonly options: WorldOptions
  /** What a thief has copied. */
  stolen: { session?: string; token?: string } = {}
  readonly outage = new Outage()
  #folder = ''
  readonly #kept = new Map<number, Kept>()
  #running: { service: ComposedService; rows: Rows; others: readonly OtherServer[] } | undefined
  #count = 0
  #requests = 0
  #turns = 0
  #userId = ''
  #starting: Promise<void> | undefined
  offsetMs = 0
  /** Of the database, by all requests. */
  reads = 0

  constructor(options: WorldOptions) {
    this.options = options
  }

  get userId(): string {
    return this.#userId
  }

  get now(): number {
    return this.options.wall() + this.offsetMs
  }

  /** Throws what the start of a service throws. */
  async start(): Promise<void> {
    const { wall, monotonic, cookies, credentials, parent, shared } = this.options
    this.#folder = mkdtempSync(join(parent, folderPrefix))
    const database = join(this.#folder, 'carillon.db')
    const { outage } = this
    const onRead = () => {
      this.reads++
    }
    const sources = { wall: () => wall() + this.offsetMs, monotonic: () => monotonic() + this.offsetMs }
    const service = await composeWorld({ database, sources, outage, onRead, cookies }, shared)
    this.#userId = (await addUser(service.users, { ...credentials, isGenerated: true })).id
    this.#running = { service, rows: new Rows(database), others: places.map((place) => this.#other(place, service)) }
  }

  #other(place: Place, { config, sessions, now }: ComposedService): OtherServer {
    const { id, keySet, cookies } = this.options
    return new OtherServer({
      place,
      issuer: config.publicUrl as string,
      keySet: keySet(id),
      now,
      userOfSession: async (secret) => (await sessions.verify(secret))?.userId,
      cookies: { session: cookies.cookie, memory: cookies.memoryCookie },
      stepsOf: (n) => this.#kept.get(n)?.exchange.steps ?? [],
    })
  }

  async #stop(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    this.outage.stop()
    for (const other of running?.others ?? []) other.end()
    running?.rows.close()
    try {
      await running?.service.end()
    } finally {
      if (this.#folder !== '') rmSync(this.#folder, { recursive: true, force: true })
    }
  }

  /** Counts a request. Throws UNAVAILABLE while the world starts again, and TOO_MANY_REQUESTS after the last request. */
  request(weight = 1): { service: ComposedService; others: readonly OtherServer[] } {
    if (this.#running === undefined) throw overloaded('The demonstration is starting again')
    if (this.#requests >= maxRequests)
      throw new CarillonError('TOO_MANY_REQUESTS', 'This demonstration has had too many requests', {
        remedy: 'Start it again.',
      })
    this.#requests += weight
    return this.#running
  }

  /** A fresh database, user, clock and keys. */
  async reset(): Promise<void> {
    this.request(requestsOfReset)
    this.#starting = this.options.inTurn(async () => {
      await this.#stop()
      this.offsetMs = 0
      this.stolen = {}
      await this.start()
    })
    await this.#starting
  }

  /** Passes a request on. Throws UNAVAILABLE or TOO_MANY_REQUESTS; otherwise the response is that of a server of the world. */
  async serve([request, response]: [IncomingMessage, ServerResponse], passed: Passed): Promise<void> {
    const { service, others } = this.request()
    const { to, path, by, body } = passed
    const isBehind = to === 'servers'
    const server = isBehind ? (this.#turns++ % (places.length - 1)) + 1 : 0
    const n = ++this.#count
    const exchange = by === 'machine' ? undefined : this.#record([request, response], { to, by, body, n, server })
    this.#hideForeignCookies(request)
    if (exchange !== undefined) response.setHeader('Carillon-Exchange', n)
    if (to !== 'service') return others[server]?.passOn([request, response], n)
    request.url = path
    if (by === 'other-site') allowFrame(response)
    tracing(exchange?.steps ?? [], () => service.app.routing(request, response))
  }

  #record(
    [request, response]: [IncomingMessage, ServerResponse],
    { to, by, body, n, server }: Pick<Exchange, 'to' | 'by' | 'n'> & { body: Body; server: number },
  ): Kept['exchange'] {
    const exchange: Kept['exchange'] = {
      ...{ n, by, to, server: server === 0 ? null : server, at: this.now },
      request: { ...requestOf(request, this.#names), body: '' },
      response: { line: '', fields: [], body: '' },
      steps: [],
      rows: { before: this.rows, after: [] },
    }
    const sent = collectBody(response)
    const note = () => {
      exchange.request.body = body.text
      exchange.response = { ...responseOf(response), body: sent.text }
      exchange.rows.after = this.rows
    }
    const kept: Kept = { exchange, note }
    response.once('close', () => {
      note()
      kept.note = undefined
    })
    this.#kept.set(n, kept)
    this.#kept.delete(n - maxExchanges)
    return exchange
  }

  get #names(): ReadonlySet<string> {
    return new Set(Object.values(this.options.cookies).map(({ name }) => name))
  }

  #hideForeignCookies({ headers, rawHeaders }: IncomingMessage): void {
    if (headers.cookie === undefined) return
    const own = onlyCookies(headers.cookie, this.#names)
    if (own === undefined) delete headers.cookie
    else headers.cookie = own
    for (let i = 0; i < rawHeaders.length; i += 2)
      if (rawHeaders[i]?.toLowerCase() === 'cookie') rawHeaders[i + 1] = own ?? ''
  }

  /** Throws NOT_FOUND. */
  exchange(n: number): Exchange {
    const kept = this.#kept.get(n)
    if (kept === undefined) throw new CarillonError('NOT_FOUND', 'There is no such exchange, or it is too old')
    kept.note?.()
    return kept.exchange
  }

  /** Empty while it starts again. */
  get rows(): Row[] {
    if (this.#running === undefined) return []
    const { rows, others } = this.#running
    return [...rows.of(this.#userId), ...others.flatMap((other) => other.rows)]
  }

  async end(): Promise<void> {
    await this.#starting?.catch(() => {})
    await this.#stop()
  }
}
