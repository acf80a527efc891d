// ChangeSignals between processes: NOTIFY after the commit, gathered for a moment so that many commits are one notice (a NOTIFY
// inside each transaction would make all commits wait for one lock), and LISTEN on a connection of its own. A notice
// that is lost is made good: whenever the connection comes back, everybody is told that anything may have changed. Each
// process hears itself once a second, and so knows that it hears.
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { CarillonError } from '../../errors.ts'
import type { ChangeSignal } from '../store.ts'
import { Client } from './connection/connection.ts'

const channel = 'carillon'
const gatherMs = 20
/** NOTIFY takes 8,000 bytes; beyond that many notices at once one says "anything". */
const maxUsersInNotice = 150
const maxNotices = 40
const firstRetryMs = 100
const maxRetryMs = 2_000

/** How often the listening connection is asked whether it still is one, and how long the answer may take. */
const heartbeatMs = 1_000
const answerWithinMs = 2_000
const heardWithinMs = 3_000
/** To be heard by whoever asks it, with the server's time, in milliseconds since 1970. */
const heartbeat = 'select pg_notify($1, $2), (extract(epoch from clock_timestamp()) * 1000)::float8 as time'

/** What functions/ sends with a token cut has that word alone; a heartbeat has only its sender. */
type Notice = { from?: string; users?: string[]; session?: string; cutoff?: true; anything?: true }

export class ChangeSignals {
  readonly #node = randomUUID()
  /** 0.5 to 1, another in each process: many that lost their server do not come back in step. */
  readonly #patience = 0.5 + Number.parseInt(this.#node.slice(0, 4), 16) / 0x20000
  readonly #pool: pg.Pool
  readonly #url: string
  readonly #listeners = new Set<(ring: ChangeSignal) => void>()
  readonly #users = new Set<string>()
  #gathering: NodeJS.Timeout | undefined
  #client: Client | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #comingBack: NodeJS.Timeout | undefined
  #heardAt = 0
  /** The server's time when it last told it, and ours by `performance.now()`. */
  #told = { serverMs: 0, at: 0 }
  #history = ''
  #isClosed = false
  #retryMs = firstRetryMs

  constructor(pool: pg.Pool, url: string) {
    this.#pool = pool
    this.#url = url
  }

  /** Throws where the server cannot be reached. From then on the connection is kept up, whatever happens to it. */
  async open(): Promise<void> {
    const client = new Client({
      connectionString: this.#url,
      application_name: 'carillon rings',
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
      keepAlive: true,
    })
    // Its end is told below; an error without a listener would end the process.
    client.on('error', () => {})
    client.on('notification', ({ payload }) => this.#hear(payload ?? ''))
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      this.#heardAt = 0
      await this.#beat(client)
      this.#history = await historyOf(client)
      await this.#untilHeard()
      if (this.#isClosed) throw new CarillonError('UNAVAILABLE', 'The store is closed')
    } catch (error) {
      letGo(client)
      throw error
    }
    client.once('end', () => this.#comeBack(client))
    this.#client = client
    this.#retryMs = firstRetryMs
    this.#heartbeat = setInterval(() => this.#ask(client), heartbeatMs).unref()
  }

  on(listener: (ring: ChangeSignal) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** After a commit: this process hears it at once, the others in a moment. */
  ring(ring: ChangeSignal): void {
    this.#announce(ring)
    // Of the end of a proof the commit itself tells the others.
    if (ring.about !== 'inbox') return
    this.#users.add(ring.userId)
    this.#notifySoon(gatherMs)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#gathering)
    clearTimeout(this.#comingBack)
    clearInterval(this.#heartbeat)
    await this.#notify()
    if (this.#client !== undefined) letGo(this.#client)
  }

  /** Milliseconds since 1970 by the server's clock, which all processes share; theirs may differ. */
  storeTime(): number {
    return Math.round(this.#told.serverMs + performance.now() - this.#told.at)
  }

  /** Names the history of changes, as the server says at every new connection; the ring "anything" follows a change of it. */
  get history(): string {
    return this.#history
  }

  #announce(ring: ChangeSignal): void {
    for (const listener of this.#listeners) listener(ring)
  }

  #notifySoon(ms: number): void {
    this.#gathering ??= setTimeout(() => void this.#notify(), ms)
  }

  async #notify(): Promise<void> {
    this.#gathering = undefined
    if (this.#users.size === 0) return
    const users = [...this.#users]
    this.#users.clear()
    const parts = Array.from({ length: Math.ceil(users.length / maxUsersInNotice) }, (_, i): Notice => {
      return { users: users.slice(i * maxUsersInNotice, (i + 1) * maxUsersInNotice) }
    })
    const notices: Notice[] = parts.length > maxNotices ? [{ anything: true }] : parts
    const payloads = notices.map((notice) => JSON.stringify({ from: this.#node, ...notice }))
    try {
      await this.#pool.query('select pg_notify($1, payload) from unnest($2::text[]) payload', [channel, payloads])
    } catch {
      for (const user of users) this.#users.add(user)
      if (!this.#isClosed) this.#notifySoon(maxRetryMs)
    }
  }

  #hear(payload: string): void {
    const notice = noticeIn(payload)
    if (notice.from === this.#node) {
      this.#heardAt = performance.now()
      return
    }
    if (notice.cutoff) this.#announce({ about: 'token-revocation' })
    if (notice.anything) this.#announce({ about: 'anything' })
    if (notice.session !== undefined) this.#announce({ about: 'session', userId: notice.session })
    for (const userId of notice.users ?? []) this.#announce({ about: 'inbox', userId })
  }

  /** A connection that is cut somewhere on its way says nothing, and one through a pooler may answer and not hear. */
  #ask(client: Client): void {
    if (performance.now() - this.#heardAt > heardWithinMs) this.#comeBack(client)
    else this.#beat(client).catch(() => this.#comeBack(client))
  }

  async #beat(client: Client): Promise<void> {
    const askedAt = performance.now()
    const { rows } = await client.query(heartbeat, [channel, JSON.stringify({ from: this.#node } satisfies Notice)])
    this.#told = { serverMs: rows[0].time, at: (askedAt + performance.now()) / 2 }
  }

  async #untilHeard(): Promise<void> {
    const giveUpAt = performance.now() + answerWithinMs
    while (this.#heardAt === 0) {
      if (performance.now() > giveUpAt)
        throw new CarillonError(
          'UNAVAILABLE',
          'Notices do not come through. Name the PostgreSQL server itself in CARILLON_DATABASE_URL, not a pooler.',
        )
      await sleep(5)
    }
  }

  #comeBack(lost: Client): void {
    if (this.#isClosed || this.#client !== lost) return
    this.#client = undefined
    clearInterval(this.#heartbeat)
    letGo(lost)
    this.#tryAgain()
  }

  #tryAgain(): void {
    const pause = this.#retryMs * this.#patience
    this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs)
    this.#comingBack = setTimeout(() => {
      this.open().then(
        () => this.#announce({ about: 'anything' }),
        () => this.#isClosed || this.#tryAgain(),
      )
    }, pause).unref()
  }
}

/**
 * When the database was made, by its ledger, and when its server was started. A server that lost changes was always started
 * in between: a replica that took over has a start of its own (and another timeline), and so has a restored snapshot of the
 * files, whose timeline is the same. It costs each reader one resync after every restart of PostgreSQL.
 */
async function historyOf(client: Client): Promise<string> {
  const { rows } = await client.query(
    "select concat_ws(' ', min(timestamp), extract(epoch from pg_postmaster_start_time())) as history from kysely_migration",
  )
  return rows[0].history
}

/** Whoever may connect may notify: what is no notice of ours says that anything may have changed. */
function noticeIn(payload: string): Notice {
  try {
    const notice = Object(JSON.parse(payload)) as Notice
    return notice.users === undefined || Array.isArray(notice.users) ? notice : { anything: true }
  } catch {
    return { anything: true }
  }
}

/** A server that hangs, or a network that swallows, never answers the goodbye. */
function letGo(client: Client): void {
  client.end().catch(() => {})
  const { stream } = client.connection
  if (stream instanceof Socket) stream.destroySoon()
  else stream.destroy()
}
