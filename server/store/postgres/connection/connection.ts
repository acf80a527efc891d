// How the store calls PostgreSQL: in one round trip or in a transaction, and each failure as a CarillonError. opening.ts opens it.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { BoundedCache } from '../../../basics/bounded-cache.ts'
import { CarillonError, overloaded, unavailable } from '../../../basics/errors.ts'
import type { AuditEntry, RecordListener } from '../../events.ts'
import { RunAgain, type Read as StoredRead, type Write } from '../../statements.ts'
import { takenBack } from '../../unavailable.ts'
import type { ChangeSignals } from '../change-signals/change-signals.ts'
import { asStoreError, isRefusal, mayRunAgain } from './failures.ts'
import { type alone, Gathering, type Row, type Together, type Value } from './gathering.ts'
import { runRead, Transaction } from './transaction.ts'

/** Calls that wait for a connection: as many as the pool can serve in the two seconds that each may wait. */
const maxWaiting = 5_000
/** How often a write runs that a deadlock or a lost connection ended. */
const maxAttempts = 3
const maxMarks = 100_000

/** Whether an inbox had a read-all of a category, and whether some of its notifications are or were archived, or are snoozed. */
export type Marks = { readonly hasCategoryMarks: boolean; readonly hasAway: boolean }
const noMarks: Marks = { hasCategoryMarks: false, hasAway: false }
type MarkedInbox = Record<'categoryThrough' | 'archived' | 'snoozed' | 'archiveVersion', number>

/** What every operation of the store works with. Each call is one round trip; it throws UNAVAILABLE if the system fails. */
export class Database {
  readonly #pool: pg.Pool
  readonly changeSignals: ChangeSignals
  /** What the inboxes of some users have. Their statements cost more, and are right in every inbox. */
  readonly #marks = new BoundedCache<Marks>(maxMarks)
  /** Citus spreads the tables over several nodes, and calls of several users cannot share a statement. */
  readonly isDistributed: boolean
  readonly #gatherings = new Map<unknown, Gathering<unknown, unknown>>()
  readonly #recordListeners = new Set<RecordListener>()
  #callsInProgress = 0
  #closing: Promise<void> | undefined

  constructor(pool: pg.Pool, changeSignals: ChangeSignals, { isDistributed = false } = {}) {
    this.#pool = pool
    this.changeSignals = changeSignals
    this.isDistributed = isDistributed
  }

  /** Reads from the inbox of a user: by the usual statement and, if the inbox has more marks, by another, which later reads take at once. */
  async byMarks<Found extends { inbox: MarkedInbox }>(
    userId: string,
    read: (marks: Marks) => Promise<Found>,
  ): Promise<Found> {
    const known = this.#marks.get(userId) ?? noMarks
    const found = await read(known)
    const { categoryThrough, archived, snoozed, archiveVersion } = found.inbox
    const marks = {
      hasCategoryMarks: known.hasCategoryMarks || categoryThrough > 0,
      hasAway: known.hasAway || archived + snoozed + archiveVersion > 0,
    }
    if (marks.hasCategoryMarks === known.hasCategoryMarks && marks.hasAway === known.hasAway) return found
    this.#marks.set(userId, marks, 1)
    return read(marks)
  }

  async one(name: string, text: string, values: Value[]): Promise<Row | undefined> {
    return this.#call(async () => (await this.#query<Row>(queryOf(name, text, values))).rows[0])
  }

  /** Runs a read that is written once for both engines. */
  async read<Result>(read: StoredRead<Result>): Promise<Result> {
    return this.#call(() => runRead(read, (query) => this.#query(query)))
  }

  /** Runs a write that is written once for both engines, in a transaction: again if nothing was stored and it may succeed then. */
  async write<Result>(start: () => Write<Result>): Promise<Result> {
    const { result, recorded } = await this.#call(() => this.#commit(start))
    if (recorded.length > 0) for (const listener of this.#recordListeners) await listener(recorded)
    return result
  }

  async #commit<Result>(start: () => Write<Result>): Promise<{ result: Result; recorded: readonly AuditEntry[] }> {
    for (let attempt = 1; ; attempt++) {
      const client = await this.#connect()
      const transaction = new Transaction(client, { isOnCitus: this.isDistributed })
      try {
        const result = await transaction.run(start())
        client.release()
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

  /** Runs the call together with others of its kind. With `alone`, nothing of it was done and the caller runs it. */
  async together<Call, Result>(kind: Together<Call, Result>, call: Call): Promise<Result | typeof alone> {
    const known = this.#gatherings.get(kind) as Gathering<Call, Result> | undefined
    const gathering = known ?? new Gathering(kind, async (...query) => (await this.#query<Row>(queryOf(...query))).rows)
    if (known === undefined) this.#gatherings.set(kind, gathering as Gathering<unknown, unknown>)
    return this.#call(() => gathering.add(call))
  }

  async check(): Promise<void> {
    const row = await this.one('isReadOnly', "select current_setting('transaction_read_only')::bool", [])
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
      // A connection that failed is not used again.
      client.release(!isRefusal(error))
      throw asStoreError(error)
    }
  }

  /** A call that `close` waits for. */
  async #call<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closing !== undefined) throw unavailable('The store is closed')
    this.#callsInProgress++
    try {
      return await work()
    } finally {
      this.#callsInProgress--
    }
  }

  // Waits for a connection, at most as long as the pool allows and with at most `maxWaiting` other calls. If it throws, nothing was done.
  async #connect(): Promise<pg.PoolClient> {
    if (this.#pool.waitingCount >= maxWaiting) throw overloaded('Too many calls are waiting for the store')
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

/** Ends what is left of a transaction that failed. */
async function end(client: pg.PoolClient, error: unknown): Promise<void> {
  try {
    const isOpen = isRefusal(error) || error instanceof RunAgain
    if (isOpen) await client.query('rollback')
    client.release(!isOpen)
  } catch {
    client.release(true)
  }
}
