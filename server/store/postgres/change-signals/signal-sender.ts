// Sends the change signals of inboxes to the other processes: gathered for a moment, so that many commits are one notice. A
// NOTIFY inside each transaction would make all commits wait for one lock.
import type pg from 'pg'
import { channel, type Notice } from './listening-connection.ts'

const gatherMs = 20
const retryMs = 2_000
/** A notice has at most 8,000 bytes. Above `maxNotices` at once, a single one says "anything". */
const maxUsersInNotice = 150
const maxNotices = 40

export class SignalSender {
  readonly #pool: pg.Pool
  readonly #node: string
  readonly #users = new Set<string>()
  #gathering: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(pool: pg.Pool, node: string) {
    this.#pool = pool
    this.#node = node
  }

  add(userId: string): void {
    this.#users.add(userId)
    this.#sendIn(gatherMs)
  }

  /** Sends what is gathered. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#gathering)
    await this.#send()
  }

  #sendIn(ms: number): void {
    this.#gathering ??= setTimeout(() => void this.#send(), ms)
  }

  async #send(): Promise<void> {
    this.#gathering = undefined
    if (this.#users.size === 0) return
    const users = [...this.#users]
    this.#users.clear()
    const payloads = noticesOf(users).map((notice) => JSON.stringify({ from: this.#node, ...notice }))
    try {
      await this.#pool.query('select pg_notify($1, payload) from unnest($2::text[]) payload', [channel, payloads])
    } catch {
      for (const user of users) this.#users.add(user)
      if (!this.#isClosed) this.#sendIn(retryMs)
    }
  }
}

function noticesOf(users: readonly string[]): Notice[] {
  const count = Math.ceil(users.length / maxUsersInNotice)
  if (count > maxNotices) return [{ anything: true }]
  return Array.from({ length: count }, (_, i) => ({
    users: users.slice(i * maxUsersInNotice, (i + 1) * maxUsersInNotice),
  }))
}
