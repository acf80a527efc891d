// Change signals between processes: NOTIFY after the commit, and LISTEN on a separate connection. If that connection is
// lost, signals may be lost too, so every listener receives "anything may have changed" once there is a new one.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { CarillonError } from '../../../errors.ts'
import type { ChangeSignal } from '../../store.ts'
import { ListeningConnection, type Notice } from './listening-connection.ts'
import { SignalSender } from './signal-sender.ts'

const firstRetryMs = 100
const maxRetryMs = 2_000

export class ChangeSignals {
  /** Names this process in its notices. */
  readonly #node = randomUUID()
  readonly #url: string
  readonly #sender: SignalSender
  readonly #listeners = new Set<(signal: ChangeSignal) => void>()
  /** The current one; after its loss the last one, whose clock and history still hold. */
  #connection: ListeningConnection | undefined
  #reconnecting: NodeJS.Timeout | undefined
  #retryMs = firstRetryMs
  #isClosed = false

  constructor(pool: pg.Pool, url: string) {
    this.#url = url
    this.#sender = new SignalSender(pool, this.#node)
  }

  /** Throws if the server cannot be reached. After that, a lost connection is replaced without the caller. */
  async open(): Promise<void> {
    const connection = await ListeningConnection.open(this.#url, {
      node: this.#node,
      onNotice: (notice) => this.#receive(notice),
      onLost: () => this.#reconnect(),
    })
    if (this.#isClosed) {
      connection.close()
      throw new CarillonError('UNAVAILABLE', 'The store is closed')
    }
    this.#connection = connection
    this.#retryMs = firstRetryMs
  }

  on(listener: (signal: ChangeSignal) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Call it after a commit: this process receives the signal at once, the others within some 20 ms. */
  send(signal: ChangeSignal): void {
    this.#emit(signal)
    // The end of a session or token is in the commit: the database function sends the notice.
    if (signal.about === 'inbox') this.#sender.add(signal.userId)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#reconnecting)
    await this.#sender.close()
    this.#connection?.close()
  }

  /** The clock of the server, which all processes share: milliseconds since 1970. */
  serverTime(): number {
    return this.#connection?.serverTime() ?? 0
  }

  /** Names the history of changes, read with every new connection. The signal "anything" follows a change of it. */
  get history(): string {
    return this.#connection?.history ?? ''
  }

  #emit(signal: ChangeSignal): void {
    for (const listener of this.#listeners) listener(signal)
  }

  #receive(notice: Notice): void {
    if (notice.cutoff) this.#emit({ about: 'token-revocation' })
    if (notice.anything) this.#emit({ about: 'anything' })
    if (notice.session !== undefined) this.#emit({ about: 'session', userId: notice.session })
    for (const userId of notice.users ?? []) this.#emit({ about: 'inbox', userId })
  }

  #reconnect(): void {
    if (this.#isClosed) return
    // Another factor from 0.5 to 1 in each process, so that many that lost their server do not reconnect in step.
    const factor = 0.5 + Number.parseInt(this.#node.slice(0, 4), 16) / 0x20000
    const delayMs = this.#retryMs * factor
    this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs)
    this.#reconnecting = setTimeout(() => {
      this.open().then(
        () => this.#emit({ about: 'anything' }),
        () => this.#reconnect(),
      )
    }, delayMs).unref()
  }
}
