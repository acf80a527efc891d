// Each second the connection notifies itself and reads the server's clock. Within 3 seconds it
// finds that it is dead, or that a pooler passes no notices.

import { randomInt } from 'node:crypto'
import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../../basics/errors.ts'
import { version } from '../../../basics/version.ts'
import { type ChangeSignal, holderLock } from '../../events.ts'
import { Client } from '../connection/pool.ts'

export const channel = 'carillon'

export type Notice = { from?: string; signal?: ChangeSignal; users?: string[] }

const heartbeatMs = 1_000
const responseTimeoutMs = 2_000
const silenceTimeoutMs = 3_000
/** Within 25 seconds the server notices that a machine is gone, and frees its lock. */
const keepAlives = `select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '3', false)`
const heartbeat = `select pg_notify($1, $2), (extract(epoch from clock_timestamp()) * 1000)::float8 as time,
  (select concat_ws(' ', tableoid, number) from history where node = '') as history`

type Options = {
  node: string
  onNotice: (notice: Notice) => void
  /** Called once for a loss after `open` resolved, not after `close`. */
  onLost: () => void
}

export const listenerName = 'carillon change signals'

export class ListeningConnection {
  readonly #options: Options
  readonly #client: Client
  #heartbeat: NodeJS.Timeout | undefined
  #heardAt = 0
  #clock = { serverMs: 0, at: 0 }
  #server = ''
  history = ''
  readonly holder = randomInt(1, 2 ** 31)

  constructor(url: string, options: Options) {
    this.#options = options
    this.#client = new Client({
      connectionString: url,
      // doctor lists the processes by it.
      application_name: `${listenerName} ${version} ${hostname()}`,
      connectionTimeoutMillis: responseTimeoutMs,
      query_timeout: responseTimeoutMs,
      keepAlive: true,
    })
    // `end` reports the loss; an error without a listener would end the process.
    this.#client.on('error', () => {})
    this.#client.on('notification', ({ payload }) => this.#receive(payload ?? ''))
  }

  /** Throws if the server's notices do not arrive. */
  async open(): Promise<void> {
    try {
      await this.#client.connect()
      await this.#client.query(`listen ${channel}`)
      await this.#client.query(keepAlives)
      await this.#client.query(`select pg_advisory_lock(${holderLock}, ${this.holder})`)
      this.#server = await serverOf(this.#client)
      await this.#beat()
      await this.#firstHeartbeat()
    } catch (error) {
      this.close()
      throw error
    }
    this.#client.once('end', () => this.#lose())
    this.#heartbeat = setInterval(() => {
      if (performance.now() - this.#heardAt > silenceTimeoutMs) this.#lose()
      else this.#beat().catch(() => this.#lose())
    }, heartbeatMs).unref()
  }

  /** Returns milliseconds since 1970 by the server's clock. */
  serverTime(): number {
    return Math.round(this.#clock.serverMs + performance.now() - this.#clock.at)
  }

  /** Does not wait, because a server that hangs never confirms. */
  close(): void {
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
    this.#client.removeAllListeners('end')
    this.#client.end().catch(() => {})
    const stream = this.#client.connection.stream as Socket
    stream.destroySoon()
  }

  async #beat(): Promise<void> {
    const sentAt = performance.now()
    const notice: Notice = { from: this.#options.node }
    const { rows } = await this.#client.query(heartbeat, [channel, JSON.stringify(notice)])
    this.#clock = { serverMs: rows[0].time, at: (sentAt + performance.now()) / 2 }
    const before = this.history
    this.history = `${this.#server} ${rows[0].history}`
    if (before !== '' && this.history !== before) this.#options.onNotice(anything)
  }

  async #firstHeartbeat(): Promise<void> {
    const giveUpAt = performance.now() + responseTimeoutMs
    while (this.#heardAt === 0) {
      if (performance.now() > giveUpAt)
        throw unavailable(
          'Notices of PostgreSQL do not arrive',
          'Name the server itself in CARILLON_DATABASE_URL, not a pooler.',
        )
      await sleep(5)
    }
  }

  #receive(payload: string): void {
    const notice = noticeIn(payload)
    if (notice.from === this.#options.node) this.#heardAt = performance.now()
    else this.#options.onNotice(notice)
  }

  #lose(): void {
    if (this.#heartbeat === undefined) return
    this.close()
    this.#options.onLost()
  }
}

// The timeline changes if a replica takes over. A managed service may refuse these functions.
async function serverOf(client: Client): Promise<string> {
  const text = `select concat_ws(' ', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8)) as server
    from pg_control_system()`
  try {
    return (await client.query(text)).rows[0].server
  } catch (error) {
    if (/^(42|0A)/.test((error as { code?: string }).code ?? '')) return ''
    throw error
  }
}

const anything: Notice = { signal: { about: 'anything' } }

/** Any client may notify: an unknown payload means "anything may have changed". */
function noticeIn(payload: string): Notice {
  try {
    const notice = Object(JSON.parse(payload)) as Notice
    const isNotice = Array.isArray(notice.users ?? []) && notice.signal !== null
    return isNotice ? notice : anything
  } catch {
    return anything
  }
}
