// One visitor's world: a service of its own with a temporary database, own keys, cookies and clock, in this process. It passes requests
// to that service, keeps the transcript, and does what the page's controls say. worlds.ts decides who has one, and for how long.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { CarillonError, overloaded } from '../basics/errors.ts'
import type { Body } from './body.ts'
import { onlyCookies } from './cookies.ts'
import { allowFrame, collectBody, type Exchange, requestOf, responseOf } from './exchange.ts'
import { makeFolder, removeFolder } from './folders.ts'
import { Outage } from './outage.ts'
import { type Row, Rows } from './rows.ts'
import { type Call, tracing } from './trace.ts'

export type Credentials = { username: string; password: string }
export type WorldCookie = {
  name: string
  path: string
  isSecure: boolean
  lifetimeMs: number
  sameSite?: 'Strict' | 'Lax'
}
export type WorldCookies = { cookie: WorldCookie; deviceCookie: WorldCookie }

/** A composed service that does not listen. */
export type ComposedService = {
  handle(request: IncomingMessage, response: ServerResponse): void
  addUser(credentials: Credentials): Promise<string>
  deliver(userId: string, title: string): Promise<string>
  /** Disables the user and enables the user again, as an operator does. */
  revokeAll(userId: string): Promise<void>
  /** Ends its streams and timers, and closes the database. */
  end(): Promise<void>
}

export type ServicePlace = { database: string; offsetMs: () => number; outage: Outage; cookies: WorldCookies }

export type WorldOptions = {
  id: string
  credentials: Credentials
  cookies: WorldCookies
  hasTrace: boolean
  /** The folder for temporary files. */
  parent: string
  /** Milliseconds since 1970, of this process. */
  wall: () => number
  compose: (place: ServicePlace) => Promise<ComposedService>
  /** Runs the restarts of all worlds one after the other. */
  inTurn: InTurn
}
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/** The transcript of the last requests; an experiment has some ten. */
const maxExchanges = 100
/** Counts those of the page's controls too. Bounds the size of the database and the processor time of one visitor. */
const maxRequests = 5_000
/** Each takes some 100 ms of processor time. */
const maxRestarts = 30
const maxWaitMs = 2_000

/** `target`: path and query as the world sees them. `body` collects what arrives of its body. */
type Passed = { target: string; body: Body; isFramed: boolean }
/** `note` completes the exchange with what there is so far. */
type Kept = { exchange: Exchange; isOver: Promise<void>; note: () => void }

export class World {
  readonly options: WorldOptions
  /** A copy of the session cookie, as a thief could have made one. */
  copiedSecret: string | undefined
  readonly #folder: string
  readonly #outage = new Outage()
  readonly #kept = new Map<number, Kept>()
  #service: ComposedService | undefined
  #rows: Rows | undefined
  #offsetMs = 0
  #count = 0
  #requests = 0
  #restarts = 0
  #userId = ''
  #restarting: Promise<{ ms: number }> | undefined

  private constructor(options: WorldOptions) {
    this.options = options
    this.#folder = makeFolder(options.parent)
  }

  static async open(options: WorldOptions, titles: readonly string[]): Promise<World> {
    const world = new World(options)
    try {
      const service = await world.#start()
      world.#userId = await service.addUser(options.credentials)
      for (const title of titles) await service.deliver(world.#userId, title)
      return world
    } catch (error) {
      await world.end()
      throw error
    }
  }

  get #path(): string {
    return join(this.#folder, 'carillon.db')
  }

  async #start(): Promise<ComposedService> {
    const { compose, cookies } = this.options
    const place = { database: this.#path, offsetMs: () => this.#offsetMs, outage: this.#outage, cookies }
    this.#service = await compose(place)
    this.#rows = new Rows(this.#path)
    return this.#service
  }

  async #stop(): Promise<void> {
    const [service, rows] = [this.#service, this.#rows]
    this.#service = undefined
    this.#rows = undefined
    this.#outage.stop()
    await service?.end()
    rows?.close()
  }

  /** Throws UNAVAILABLE while it restarts, and TOO_MANY_REQUESTS after the last request. */
  #forRequest(): ComposedService {
    if (this.#service === undefined) throw restarts()
    if (this.#requests >= maxRequests) throw usedUp()
    this.#requests++
    return this.#service
  }

  /** Passes a request on. Throws UNAVAILABLE or TOO_MANY_REQUESTS; otherwise the response is the world's. */
  serve(request: IncomingMessage, response: ServerResponse, { target, body, isFramed }: Passed): void {
    const service = this.#forRequest()
    const n = ++this.#count
    const calls: Call[] = []
    const exchange: Exchange = {
      n,
      request: { ...requestOf(request, this.#names), body: '' },
      response: { line: '', fields: [], body: '' },
      trace: this.options.hasTrace ? calls : null,
      rows: { before: this.rows(), after: [] },
    }
    const sent = collectBody(response)
    const { promise, resolve } = Promise.withResolvers<void>()
    const note = () => {
      exchange.request.body = body.text
      exchange.response = { ...responseOf(response), body: sent.text }
      exchange.rows.after = this.rows()
    }
    response.once('close', () => {
      note()
      resolve()
    })
    this.#kept.set(n, { exchange, isOver: promise, note })
    this.#kept.delete(n - maxExchanges)
    this.#hideForeignCookies(request)
    request.url = target
    response.setHeader('Carillon-Exchange', n)
    if (isFramed) allowFrame(response)
    tracing(calls, () => service.handle(request, response))
  }

  get #names(): ReadonlySet<string> {
    const { cookie, deviceCookie } = this.options.cookies
    return new Set([cookie.name, deviceCookie.name])
  }

  #hideForeignCookies({ headers, rawHeaders }: IncomingMessage): void {
    if (headers.cookie === undefined) return
    const own = onlyCookies(headers.cookie, this.#names)
    if (own === undefined) delete headers.cookie
    else headers.cookie = own
    for (let i = 0; i < rawHeaders.length; i += 2)
      if (rawHeaders[i]?.toLowerCase() === 'cookie') rawHeaders[i + 1] = own ?? ''
  }

  /** Waits for the end of its response, at most two seconds: a stream has no end. Throws NOT_FOUND. */
  async exchange(n: number): Promise<Exchange> {
    const kept = this.#kept.get(n)
    if (kept === undefined) throw new CarillonError('NOT_FOUND', 'There is no such exchange, or it is too old')
    const limit = Promise.withResolvers<false>()
    const timer = setTimeout(limit.resolve, maxWaitMs, false)
    const isOver = await Promise.race([kept.isOver.then(() => true), limit.promise])
    clearTimeout(timer)
    if (!isOver) kept.note()
    return kept.exchange
  }

  /** Empty while it restarts. */
  rows(): Row[] {
    return this.#rows?.of(this.#userId) ?? []
  }

  get state() {
    return {
      now: this.options.wall() + this.#offsetMs,
      offsetMs: this.#offsetMs,
      isRunning: this.#service !== undefined,
      outageEndsAt: this.#outage.endsAt,
      rows: this.rows(),
    }
  }

  /** Closes the service and composes it again on the same file: what was only in memory is gone. */
  async restart(): Promise<{ ms: number }> {
    this.#forRequest()
    if (this.#restarting !== undefined) throw restarts()
    if (++this.#restarts > maxRestarts) throw usedUp()
    this.#restarting = this.options.inTurn(async () => {
      const from = performance.now()
      await this.#stop()
      await this.#start()
      return { ms: Math.round(performance.now() - from) }
    })
    return this.#restarting.finally(() => {
      this.#restarting = undefined
    })
  }

  /** When it ends, by the clock of the process. */
  outage(seconds: number): number {
    this.#forRequest()
    return this.#outage.begin(seconds, this.options.wall())
  }

  /** Sets the clock of the world, which only goes forward. */
  advance(seconds: number): { now: number; offsetMs: number } {
    this.#forRequest()
    this.#offsetMs += seconds * 1_000
    return { now: this.options.wall() + this.#offsetMs, offsetMs: this.#offsetMs }
  }

  async revokeAll(): Promise<void> {
    await this.#forRequest().revokeAll(this.#userId)
  }

  deliver(title: string): Promise<string> {
    return this.#forRequest().deliver(this.#userId, title)
  }

  async end(): Promise<void> {
    await this.#restarting?.catch(() => {})
    try {
      await this.#stop()
    } finally {
      removeFolder(this.#folder)
    }
  }
}

function restarts(): CarillonError {
  return overloaded('The demonstration is restarting')
}

function usedUp(): CarillonError {
  return new CarillonError('TOO_MANY_REQUESTS', 'This demonstration has had too many requests', {
    remedy: 'Start it again.',
  })
}
