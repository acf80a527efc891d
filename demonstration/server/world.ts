// One visitor's world: the product on a temporary SQLite database with its own clock.
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { Clock } from '../../server/basics/clock.ts'
import { CarillonError } from '../../server/basics/errors.ts'
import type { Log } from '../../server/basics/log.ts'
import { compose } from '../../server/compose.ts'
import { readConfig } from '../../server/config/read.ts'
import type { Config } from '../../server/config/settings.ts'
import type { Cookie } from '../../server/http/site.ts'
import { openStore } from '../../server/open-store.ts'
import type { Passwords } from '../../server/passwords/passwords.ts'
import { connect } from '../../server/store/sqlite/database.ts'
import { addUser } from '../../server/users/users.ts'
import type { Exchange, Row, Step, Target, Visit } from './api.ts'
import { OtherServer } from './other-server.ts'
import { allowFrame } from './other-site.ts'
import type { ChildSettings } from './settings.ts'
import { observed, observedStore, traced } from './trace.ts'
import { type Body, keepCookies, onSent, requestOf } from './transcript.ts'

export type WorldOptions = {
  id: string
  user: Visit['user']
  cookies: { cookie: Cookie; deviceCookie: Cookie; memoryCookie: Cookie }
  settings: ChildSettings
  folder: string
  /** This process's milliseconds. */
  wall: () => number
  monotonic: () => number
  /** Hashes one password at a time for all visitors. */
  passwords: Passwords
  log: Log
  way: Way
}

/** How this process sends to itself: as browser, thief, or machine (in no exchange). */
export type Way = {
  urlOf: (path: string) => URL
  fieldsOf: (address: string, by: Passed['by']) => Readonly<Record<string, string>>
}

type State = { offsetMs: number; outageEndsAt: number }
export type ComposedService = Awaited<ReturnType<typeof composeService>>
/** `path`: as the world's service sees it. */
export type Passed = { to: Target; path: string; by: Exchange['by'] | 'machine'; body: Body }
type Exchanged = [IncomingMessage, ServerResponse]

/** An experiment has some thirty. */
const maxExchanges = 100
/** Bounds one visitor's database and processor time. */
export const maxRequests = 5_000
const otherServers = ['other-server', 'server-1', 'server-2', 'server-3', 'server-4', 'server-5']

export class World {
  readonly options: WorldOptions
  readonly state: State
  readonly service: ComposedService
  readonly others: readonly OtherServer[]
  stolen: { session?: string | undefined; token?: string | undefined } = {}
  readonly #names: ReadonlySet<string>
  readonly #exchanges = new Map<number, Exchange & { steps: Step[] }>()
  #count = 0
  #requests = 0
  #turns = 0

  private constructor(options: WorldOptions, service: ComposedService) {
    this.options = options
    this.service = service
    this.state = service.state
    const stepsOf = (n: number) => this.#exchanges.get(n)?.steps ?? []
    this.others = otherServers.map(
      (name) => new OtherServer({ name, service, world: options, stepsOf }),
    )
    this.#names = new Set(Object.values(options.cookies).map(({ name }) => name))
  }

  static async start(options: WorldOptions): Promise<World> {
    return new World(options, await composeService(options))
  }

  request(): void {
    if (++this.#requests <= maxRequests) return
    const remedy = 'Start it again.'
    throw new CarillonError('TOO_MANY_REQUESTS', 'This demonstration has had too many requests', {
      remedy,
    })
  }

  async serve([request, response]: Exchanged, { to, path, by, body }: Passed): Promise<void> {
    this.request()
    const server = to === 'servers' ? (this.#turns++ % (otherServers.length - 1)) + 1 : 0
    const n = ++this.#count
    const steps: Step[] = []
    if (by !== 'machine') {
      const exchange: Exchange & { steps: Step[] } = {
        n,
        by,
        to,
        server: server || null,
        at: this.service.now(),
        request: requestOf(request, this.#names),
        response: { line: '', fields: [], body: '' },
        steps,
        rows: [],
      }
      response.setHeader('Carillon-Exchange', n)
      onSent(response, (sent) => {
        exchange.request.body = body.text
        exchange.response = sent
        exchange.rows = this.service.rows()
      })
      this.#exchanges.set(n, exchange)
      this.#exchanges.delete(n - maxExchanges)
    }
    keepCookies(request, this.#names)
    if (to !== 'service')
      return this.others[server]?.passOn([request, response], n).catch(() => {
        throw new CarillonError('NOT_FOUND', 'This world ended meanwhile')
      })
    request.url = path
    if (by === 'other-site') allowFrame(response)
    traced.run(steps, () => this.service.app.routing(request, response))
  }

  exchange(n: number): Exchange {
    const exchange = this.#exchanges.get(n)
    if (exchange === undefined)
      throw new CarillonError('NOT_FOUND', 'There is no such exchange, or it is too old')
    return exchange
  }

  async end(): Promise<void> {
    for (const other of this.others) other.end()
    await this.service.end()
  }
}

async function composeService(options: WorldOptions) {
  const { user, cookies, passwords, log, wall, monotonic, settings } = options
  const state: State = { offsetMs: 0, outageEndsAt: 0 }
  const folder = mkdtempSync(join(options.folder, 'world-'))
  const config = {
    ...configOf(settings),
    database: { engine: 'sqlite', path: join(folder, 'carillon.db') },
  } as const
  const after = (source: () => number) => () => source() + state.offsetMs
  const clock = new Clock({ wall: after(wall), monotonic: after(monotonic) }, () => {})
  const { store } = await openStore(config.database)
  const seen = observedStore(store, () => wall() < state.outageEndsAt)
  const composition = await compose(seen, config, {
    log,
    clock,
    aged: async () => clock.wall(),
    random: Math.random,
    url: () => config.publicUrl,
    // A remembered token would hide the check of its signature.
    own: { passwords, cookies, observed, cachedTokens: 0 },
  })
  const { app, users, readiness } = composition
  await app.ready()
  readiness.isReady = true
  const { id: userId } = await addUser(users, { ...user, isGenerated: true })
  const rows = rowsIn(config.database.path, userId)
  const end = async () => {
    rows.end()
    await composition.endStreams()
    await app.close()
    await composition.end()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
  // Controls use this store, which an outage leaves reachable.
  return { ...composition, config, store, state, userId, now: clock.now, rows: rows.now, end }
}

/** `now` returns no rows after `end`, since a response may end later. */
function rowsIn(path: string, userId: string) {
  const database = connect(path)
  const prepared = ['session', 'revocation'].map((table) => ({
    table,
    found: database.prepare(`select * from ${table} where user_id = ?`),
  }))
  const rowsNow = () =>
    prepared.flatMap(({ table, found }) =>
      found.all(userId).map((columns) => ({ table, columns }) as Row),
    )
  return { now: () => (database.isOpen ? rowsNow() : []), end: () => database.close() }
}

/** Only the service's addresses and HSTS apply here: browsers keep a host's last policy. */
export function configOf({
  url,
  prefix,
  hosts,
  hstsSubdomains,
}: ChildSettings): Config & { publicUrl: string } {
  return {
    ...readConfig({}),
    publicUrl: `${url}${prefix}/demonstration/service`,
    allowedHosts: [...hosts],
    hstsSubdomains,
    demonstration: false,
    streams: 8,
  }
}
