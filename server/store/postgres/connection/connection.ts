// How the store calls PostgreSQL: in one round trip or in a transaction.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Durations } from '../../../basics/counts.ts'
import { CarillonError, overloaded, unavailable } from '../../../basics/errors.ts'
import type { AuditEntry, RecordListener } from '../../events.ts'
import type { StoreNumbers } from '../../numbers.ts'
import { RunAgain, type Read as StoredRead, type Write } from '../../statements.ts'
import { takenBack } from '../../unavailable.ts'
import type { ChangeSignals } from '../change-signals/change-signals.ts'
import { asStoreError, isRefusal, mayRunAgain } from './failures.ts'
import { type alone, Gathering, type Row, type Together, type Value } from './gathering.ts'
import { LargeWrites } from './large-writes.ts'
import { runRead, Transaction } from './transaction.ts'

/** So many can be served in the two seconds that each may wait. */
const maxWaiting = 5_000
/** Writes of more rows take turns. */
const maxLight = 100
const maxAttempts = 3

/** Each call throws UNAVAILABLE if the system fails. */
export class Database {
  readonly #pool: pg.Pool
  readonly changeSignals: ChangeSignals
  /** One statement of Citus cannot write to several nodes, so calls of several users share none. */
  readonly isDistributed: boolean
  readonly #gatherings = new Map<unknown, Gathering<unknown, unknown>>()
  readonly #largeWrites = new LargeWrites()
  readonly #recordListeners = new Set<RecordListener>()
  readonly #commits = new Durations()
  #written = 0
  #callsInProgress = 0
  #closing: Promise<void> | undefined

  constructor(pool: pg.Pool, changeSignals: ChangeSignals, { isDistributed = false } = {}) {
    this.#pool = pool
    this.changeSignals = changeSignals
    this.isDistributed = isDistributed
  }

  numbers(): StoreNumbers {
    const { totalCount: open, idleCount: idle, waitingCount } = this.#pool
    const gathered = this.#gatherings.values().reduce((sum, gathering) => sum + gathering.size, 0)
    const waiting = waitingCount + gathered + this.#largeWrites.size
    return { commits: this.#commits, written: this.#written, waiting, pool: { open, idle } }
  }

  readonly #noteCommit = (writes: number, ms: number): void => {
    this.#commits.add(ms)
    this.#written += writes
  }

  async one(name: string, text: string, values: Value[]): Promise<Row | undefined> {
    return this.#call(async () => (await this.#query<Row>(queryOf(name, text, values))).rows[0])
  }

  async read<Result>(read: StoredRead<Result>): Promise<Result> {
    return this.#call(() => runRead(read, (query) => this.#query(query)))
  }

  /** Retries if nothing was stored and that may succeed. `weight`: how many rows it may change. */
  async write<Result>(start: () => Write<Result>, weight = 1): Promise<Result> {
    const commit = () => this.#commit(start)
    const { result, recorded } = await this.#call(() =>
      weight > maxLight ? this.#largeWrites.run(weight, commit) : commit(),
    )
    if (recorded.length > 0) for (const listener of this.#recordListeners) await listener(recorded)
    return result
  }

  async #commit<Result>(
    start: () => Write<Result>,
  ): Promise<{ result: Result; recorded: readonly AuditEntry[] }> {
    for (let attempt = 1; ; attempt++) {
      const client = await this.#connect()
      const beganAt = performance.now()
      const transaction = new Transaction(client, { isOnCitus: this.isDistributed })
      try {
        const result = await transaction.run(start())
        client.release()
        this.#noteCommit(1, performance.now() - beganAt)
        for (const signal of transaction.signals) this.changeSignals.send(signal)
        return { result, recorded: transaction.recorded }
      } catch (error) {
        await end(client, error)
        const isTakenBack = isRefusal(error) || !transaction.isCommitting
        if (isTakenBack && attempt < maxAttempts && mayRunAgain(error)) continue
        throw isTakenBack && !isRefusal(error) && !(error instanceof CarillonError)
          ? takenBack(error)
          : asStoreError(error)
      }
    }
  }

  onRecorded(listener: RecordListener): void {
    this.#recordListeners.add(listener)
  }

  async together<Call, Result>(
    kind: Together<Call, Result>,
    call: Call,
  ): Promise<Result | typeof alone> {
    const known = this.#gatherings.get(kind) as Gathering<Call, Result> | undefined
    const read = async (...query: Parameters<typeof queryOf>) =>
      (await this.#query<Row>(queryOf(...query))).rows
    const gathering = known ?? new Gathering(kind, read, this.#noteCommit)
    if (known === undefined) this.#gatherings.set(kind, gathering as Gathering<unknown, unknown>)
    return this.#call(() => gathering.add(call))
  }

  async check(): Promise<void> {
    const row = await this.one(
      'isReadOnly',
      "select current_setting('transaction_read_only')::bool",
      [],
    )
    if (row?.[0] === true) throw unavailable('The store is read-only; it may be a replica')
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #query<Row>(query: pg.QueryConfig | pg.QueryArrayConfig): Promise<{ rows: Row[] }> {
    const client = await this.#connect()
    try {
      const result = await client.query(query)
      client.release()
      return result
    } catch (error) {
      client.release(!isRefusal(error))
      throw asStoreError(error)
    }
  }

  async #call<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closing !== undefined) throw unavailable('The store is closed')
    this.#callsInProgress++
    try {
      return await work()
    } finally {
      this.#callsInProgress--
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    if (this.#pool.waitingCount >= maxWaiting)
      throw overloaded('Too many calls are waiting for the store')
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw unavailable('The store cannot be reached now; nothing was done', undefined, error)
    }
  }

  async #end(): Promise<void> {
    while (this.#callsInProgress > 0) await sleep(5)
    await this.changeSignals.close()
    await this.#pool.end()
  }
}

function queryOf(name: string, text: string, values: Value[]) {
  return { name, text, values, rowMode: 'array' as const }
}

async function end(client: pg.PoolClient, error: unknown): Promise<void> {
  try {
    const isOpen = isRefusal(error) || error instanceof RunAgain
    if (isOpen) await client.query('rollback')
    client.release(!isOpen)
  } catch {
    client.release(true)
  }
}
