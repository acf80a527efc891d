// Notices that the storage of PostgreSQL was set back, which leaves no trace in the database (decision 0068): each process that writes raises
// a number of its own in the table `history`. If the database has lost one, a new history begins. Every process finds it with its next heartbeat.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

const raiseEveryMs = 1_000

/** Also removes the numbers of processes that have not written for 30 days. */
const raise = `
  with moment as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as at),
  old as (delete from history where node not in ('', $1) and raised_at < (select at from moment) - 2592000000)
  insert into history (node, number, raised_at) select $1, 1, at from moment
  on conflict (node) do update set number = history.number + 1, raised_at = excluded.raised_at returning number`
const begin =
  "update history set number = greatest(number + 1, extract(epoch from clock_timestamp()) * 1000) where node = ''"

export class WriterNumber {
  readonly #pool: pg.Pool
  readonly #node: string
  /** The highest one that the database has confirmed. */
  #number = 0
  #isRaising = false
  #isDue = false

  constructor(pool: pg.Pool, node: string) {
    this.#pool = pool
    this.#node = node
  }

  /** Call it after a commit. It raises the number now, or a second after the last time. */
  async written(): Promise<void> {
    this.#isDue = true
    if (this.#isRaising) return
    this.#isRaising = true
    while (this.#isDue) {
      this.#isDue = false
      // If it fails, the write after the next second raises the number.
      await this.#compareWith(raise, this.#number + 1).catch(() => {})
      await sleep(raiseEveryMs, undefined, { ref: false })
    }
    this.#isRaising = false
  }

  /** Call it after the connection was lost: the server may be another one now. */
  async compare(): Promise<void> {
    if (this.#number > 0) await this.#compareWith('select number from history where node = $1', this.#number)
  }

  async #compareWith(text: string, expected: number): Promise<void> {
    const { rows } = await this.#pool.query(text, [this.#node])
    const found: number = rows[0]?.number ?? 0
    if (found < expected) await this.#pool.query(begin)
    this.#number = found
  }
}
