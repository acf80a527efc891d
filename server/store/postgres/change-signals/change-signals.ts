// Sends change signals by NOTIFY, and listens on a separate connection. Its loss may lose signals,
// so every listener gets "anything may have changed". With a NOTIFY in each transaction, all
// commits would wait for one lock, so signals come later, together.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { unavailable } from '../../../basics/errors.ts'
import type { ChangeListener, ChangeSignal } from '../../events.ts'
import { WriterNumber } from './history.ts'
import { channel, ListeningConnection, type Notice } from './listening-connection.ts'

const firstRetryMs = 100
const maxRetryMs = 2_000
const gatherMs = 20
const resendMs = 2_000
/** A notice has at most 8,000 bytes. */
const maxUsersInNotice = 150

export class ChangeSignals {
  readonly #node = randomUUID()
  readonly #url: string
  readonly #pool: pg.Pool
  readonly #number: WriterNumber
  readonly #listeners = new Map<ChangeListener, readonly ChangeSignal['about'][] | undefined>()
  /** After a loss the last one stays: its clock and history still hold. */
  #connection: ListeningConnection | undefined
  readonly #gathered = new Set<string>()
  #sending: NodeJS.Timeout | undefined
  #retryMs = firstRetryMs
  #lostAt: number | undefined
  #isClosed = false

  constructor(pool: pg.Pool, url: string) {
    this.#url = url
    this.#pool = pool
    this.#number = new WriterNumber(pool, this.#node)
  }

  /** Later losses repair themselves. */
  async open(): Promise<void> {
    const connection = new ListeningConnection(this.#url, {
      node: this.#node,
      onNotice: (notice) => this.#receive(notice),
      onLost: () => this.#reconnect(),
    })
    await this.#number.compare()
    await connection.open()
    if (this.#isClosed) {
      connection.close()
      throw unavailable('The store is closed')
    }
    this.#connection = connection
    this.#retryMs = firstRetryMs
  }

  on(listener: ChangeListener, about?: readonly ChangeSignal['about'][]): () => void {
    this.#listeners.set(listener, about)
    return () => this.#listeners.delete(listener)
  }

  /** Call it after a commit. This process gets the signal at once, others within 20 ms. */
  send(signal: ChangeSignal): void {
    this.#emit(signal)
    void this.#number.written()
    if (signal.about !== 'inbox') return
    this.#gathered.add(signal.userId)
    this.#notifyIn(gatherMs)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#sending)
    await this.#notify()
    this.#connection?.close()
  }

  serverTime(): number {
    return this.#connection?.serverTime() ?? 0
  }

  /** Undefined while the connection is lost: another process may take what this one holds. */
  holder(): number | undefined {
    return this.#lostAt === undefined ? this.#connection?.holder : undefined
  }

  get history(): string {
    return this.#connection?.history ?? ''
  }

  #emit(signal: ChangeSignal): void {
    for (const [listener, about] of this.#listeners)
      if (about === undefined || signal.about === 'anything' || about.includes(signal.about))
        listener(signal)
  }

  #notifyIn(ms: number): void {
    this.#sending ??= setTimeout(() => void this.#notify(), ms)
  }

  async #notify(): Promise<void> {
    this.#sending = undefined
    if (this.#gathered.size === 0) return
    const users = [...this.#gathered]
    this.#gathered.clear()
    const payloads = noticesOf(users).map((notice) =>
      JSON.stringify({ from: this.#node, ...notice }),
    )
    try {
      await this.#pool.query('select pg_notify($1, payload) from unnest($2::text[]) payload', [
        channel,
        payloads,
      ])
    } catch {
      for (const user of users) this.#gathered.add(user)
      if (!this.#isClosed) this.#notifyIn(resendMs)
    }
  }

  #receive(notice: Notice): void {
    if (notice.signal !== undefined) this.#emit(notice.signal)
    for (const userId of notice.users ?? []) this.#emit({ about: 'inbox', userId })
  }

  #reconnect(): void {
    if (this.#isClosed) return
    this.#lostAt ??= performance.now()
    // The factor is 0.5 to 1, so that processes do not reconnect in step.
    const factor = 0.5 + Number.parseInt(this.#node.slice(0, 4), 16) / 0x20000
    const delayMs = this.#retryMs * factor
    this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs)
    setTimeout(() => {
      if (this.#isClosed) return
      this.open().then(
        () => this.#welcomeBack(),
        () => this.#reconnect(),
      )
    }, delayMs).unref()
  }

  #welcomeBack(): void {
    const awayMs = performance.now() - (this.#lostAt ?? performance.now())
    this.#lostAt = undefined
    this.#emit({ about: 'anything', awayMs: Math.round(awayMs) })
  }
}

function noticesOf(users: readonly string[]): Notice[] {
  return Array.from({ length: Math.ceil(users.length / maxUsersInNotice) }, (_, i) => ({
    users: users.slice(i * maxUsersInNotice, (i + 1) * maxUsersInNotice),
  }))
}
