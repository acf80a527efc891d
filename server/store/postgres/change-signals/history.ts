// Notices that the storage was set back (decision 0068): each process raises its own number in
// `history`. If the database lost one, a new history begins.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

const raiseEveryMs = 1_000

/** Also removes numbers of processes that have not written for 30 days. */
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
  #number = 0
  #isRaising = false
  #isDue = false

  constructor(pool: pg.Pool, node: string) {
    this.#pool = pool
    this.#node = node
  }

  /** Call it after a commit. */
  async written(): Promise<void> {
    this.#isDue = true
    if (this.#isRaising) return
    this.#isRaising = true
    while (this.#isDue) {
      this.#isDue = false
      await this.#compareWith(raise, this.#number + 1).catch(() => {})
      await sleep(raiseEveryMs, undefined, { ref: false })
    }
    this.#isRaising = false
  }

  /** Call it after a lost connection: the server may have changed. */
  async compare(): Promise<void> {
    if (this.#number > 0)
      await this.#compareWith('select number from history where node = $1', this.#number)
  }

  async #compareWith(text: string, expected: number): Promise<void> {
    const { rows } = await this.#pool.query(text, [this.#node])
    const found: number = rows[0]?.number ?? 0
    if (found < expected) await this.#pool.query(begin)
    this.#number = found
  }
}
