// Rings between processes: NOTIFY after the commit, gathered for a moment so that many commits are one notice (a NOTIFY
// inside each transaction would make all commits wait for one lock), and LISTEN on a connection of its own. A notice
// that is lost is made good: whenever the connection comes back, everybody is told that anything may have changed.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Ring } from '../store.ts'

const channel = 'carillon'
const gatherMs = 20
/** NOTIFY takes 8,000 bytes; beyond that many users the notice just says "anything". */
const mostUsersInNotice = 150
const firstRetryMs = 100
const longestRetryMs = 2_000

/** How often the listening connection is asked whether it still is one, and how long the answer may take. */
const heartbeatMs = 1_000
const answerWithinMs = 2_000

/** What migrations/ sends with a token cut has that word alone. */
type Notice = { from?: string; users?: string[]; cutoff?: true; anything?: true }

export class Rings {
  readonly #node = randomUUID()
  /** 0.5 to 1, another in each process: many that lost their server do not come back in step. */
  readonly #patience = 0.5 + Number.parseInt(this.#node.slice(0, 4), 16) / 0x20000
  readonly #pool: pg.Pool
  readonly #url: string
  readonly #listeners = new Set<(ring: Ring) => void>()
  readonly #users = new Set<string>()
  #gathering: NodeJS.Timeout | undefined
  #client: pg.Client | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #comingBack: NodeJS.Timeout | undefined
  #isClosed = false
  #retryMs = firstRetryMs

  constructor(pool: pg.Pool, url: string) {
    this.#pool = pool
    this.#url = url
  }

  /** Throws where the server cannot be reached. From then on the connection is kept up, whatever happens to it. */
  async open(): Promise<void> {
    const client = new pg.Client({
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
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
    client.once('end', () => this.#comeBack(client))
    this.#client = client
    this.#retryMs = firstRetryMs
    this.#heartbeat = setInterval(() => this.#ask(client), heartbeatMs).unref()
  }

  on(listener: (ring: Ring) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** After a commit: this process hears it at once, the others in a moment. */
  ring(ring: Ring): void {
    this.#announce(ring)
    // Of a token cut the commit itself tells the others.
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
    await this.#client?.end().catch(() => {})
  }

  #announce(ring: Ring): void {
    for (const listener of this.#listeners) listener(ring)
  }

  #notifySoon(ms: number): void {
    this.#gathering ??= setTimeout(() => void this.#notify(), ms)
  }

  async #notify(): Promise<void> {
    this.#gathering = undefined
    if (this.#users.size === 0) return
    const users = [...this.#users]
    const notice: Notice = {
      from: this.#node,
      ...(users.length > mostUsersInNotice ? { anything: true } : { users }),
    }
    this.#users.clear()
    try {
      await this.#pool.query('select pg_notify($1, $2)', [channel, JSON.stringify(notice)])
    } catch {
      for (const user of users) this.#users.add(user)
      if (!this.#isClosed) this.#notifySoon(longestRetryMs)
    }
  }

  #hear(payload: string): void {
    const notice = JSON.parse(payload) as Notice
    if (notice.from === this.#node) return
    if (notice.cutoff) this.#announce({ about: 'token-cutoff' })
    if (notice.anything) this.#announce({ about: 'anything' })
    for (const userId of notice.users ?? []) this.#announce({ about: 'inbox', userId })
  }

  /** A connection that is cut somewhere on its way says nothing: it has to be asked. */
  #ask(client: pg.Client): void {
    client.query('select').catch(() => this.#comeBack(client))
  }

  #comeBack(lost: pg.Client): void {
    if (this.#isClosed || this.#client !== lost) return
    this.#client = undefined
    clearInterval(this.#heartbeat)
    lost.end().catch(() => {})
    this.#tryAgain()
  }

  #tryAgain(): void {
    const pause = this.#retryMs * this.#patience
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs)
    this.#comingBack = setTimeout(() => {
      this.open().then(
        () => this.#announce({ about: 'anything' }),
        () => this.#isClosed || this.#tryAgain(),
      )
    }, pause).unref()
  }
}
