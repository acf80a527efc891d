// How the store calls PostgreSQL: in one round trip or in a transaction, and each failure as a CarillonError. What can be wrong when the
// database is opened is in opening.ts.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { BoundedCache } from '../../../basics/bounded-cache.ts'
import { CarillonError, overloaded } from '../../../basics/errors.ts'
import { RunAgain, type Read as StoredRead, type Write } from '../../statements/statements.ts'
import type { InboxState } from '../../store.ts'
import { refusedWriteState, writeRefusal } from '../../transfer-state.ts'
import { outcomeUnknown, takenBack, wentAway } from '../../unavailable.ts'
import type { ChangeSignals } from '../change-signals/change-signals.ts'
import { alone, Gathering, type Kind } from './gathering.ts'
import { runRead, Transaction } from './transaction.ts'

/** Calls that wait for a connection: as many as the pool can serve in the two seconds that each may wait. */
const maxWaiting = 5_000
/** How often a write runs that a deadlock or a lost connection ended. */
const maxAttempts = 3

export type Row = readonly (string | number | boolean | null)[]
type Value = string | number | boolean | null | readonly (string | null)[] | readonly number[]
/** `name` is that of the prepared statement: one text for each name. */
export type Read = (name: string, text: string, values: Value[]) => Promise<Row[]>

/** A kind of calls that share a statement. */
export type Together<Call, Result> = Omit<Kind<Call, Result>, 'run'> & {
  run: (read: Read, calls: readonly Call[]) => ReturnType<Kind<Call, Result>['run']>
}

/** What every operation of the store works with. Each call is one round trip; it throws UNAVAILABLE if the system fails. */
const maxWithCategoryMarks = 100_000

export class Database {
  readonly #pool: pg.Pool
  readonly changeSignals: ChangeSignals
  /** Users whose inbox had a read-all of a category. Their statements cost more, and are right in every inbox. */
  readonly #withCategoryMarks = new BoundedCache<true>(maxWithCategoryMarks)
  /** Citus spreads the tables over several nodes, and calls of several users cannot share a statement. */
  readonly isDistributed: boolean
  readonly #gatherings = new Map<unknown, Gathering<unknown, unknown>>()
  #callsInProgress = 0
  #closing: Promise<void> | undefined

  constructor(pool: pg.Pool, changeSignals: ChangeSignals, { isDistributed = false } = {}) {
    this.#pool = pool
    this.changeSignals = changeSignals
    this.isDistributed = isDistributed
  }

  /**
   * Reads from the inbox of a user: by the statement for inboxes that had no read-all of a category and, if this one had, by the other,
   * which later reads take at once.
   */
  async byMarks<Found extends { inbox: InboxState } | undefined>(
    userId: string,
    read: (hasCategoryMarks: boolean) => Promise<Found>,
  ): Promise<Found> {
    const isKnown = this.#withCategoryMarks.get(userId) === true
    const found = await read(isKnown)
    if (isKnown || !found?.inbox.categoryThrough) return found
    this.#withCategoryMarks.set(userId, true, 1)
    return read(true)
  }

  async one(name: string, text: string, values: Value[]): Promise<Row | undefined> {
    this.#refuseIfClosing()
    return (await this.#query(queryOf(name, text, values))).rows[0]
  }

  /** Runs a read that is written once for both engines. */
  async read<Result>(read: StoredRead<Result>): Promise<Result> {
    this.#refuseIfClosing()
    return runRead(read, (query) => this.#query(query))
  }

  /** Runs a write that is written once for both engines, in a transaction: again if nothing was stored and it may succeed then. */
  async write<Result>(start: () => Write<Result>): Promise<Result> {
    this.#refuseIfClosing()
    for (let attempt = 1; ; attempt++) {
      const client = await this.#beginCall()
      const transaction = new Transaction(client, { isOnCitus: this.isDistributed })
      try {
        const result = await transaction.run(start())
        client.release()
        for (const signal of transaction.signals) this.changeSignals.send(signal)
        return result
      } catch (error) {
        await end(client, error)
        const isTakenBack = isRefusal(error) || !transaction.isCommitting
        if (isTakenBack && attempt < maxAttempts && mayRunAgain(error)) continue
        throw isTakenBack && !isRefusal(error) ? takenBack(error) : asStoreError(error)
      } finally {
        this.#callsInProgress--
      }
    }
  }

  /** Runs the call together with others of its kind. With `alone`, nothing of it was done and the caller runs it. */
  async together<Call, Result>(kind: Together<Call, Result>, call: Call): Promise<Result | typeof alone> {
    this.#refuseIfClosing()
    const known = this.#gatherings.get(kind) as Gathering<Call, Result> | undefined
    const gathering =
      known ?? new Gathering({ ...kind, run: (calls: readonly Call[]) => this.#runTogether(kind, calls) })
    if (known === undefined) this.#gatherings.set(kind, gathering as Gathering<unknown, unknown>)
    this.#callsInProgress++
    try {
      return await gathering.add(call)
    } finally {
      this.#callsInProgress--
    }
  }

  async #runTogether<Call, Result>(
    kind: Together<Call, Result>,
    calls: readonly Call[],
  ): Promise<readonly (Result | typeof alone)[]> {
    try {
      return await kind.run(async (...query) => (await this.#query(queryOf(...query))).rows, calls)
    } catch (error) {
      if (!isOfOneCall(error)) throw error
      return calls.map(() => alone)
    }
  }

  async check(): Promise<void> {
    const row = await this.one('isReadOnly', "select current_setting('transaction_read_only')::bool", [])
    if (row?.[0] === true) throw new CarillonError('UNAVAILABLE', 'The store is read-only; it may be a replica')
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #query(query: pg.QueryArrayConfig): Promise<pg.QueryArrayResult<Row & unknown[]>>
  async #query(query: pg.QueryConfig): Promise<pg.QueryResult>
  async #query(query: pg.QueryConfig): Promise<pg.QueryResultBase & { rows: unknown[] }> {
    const client = await this.#beginCall()
    try {
      const result = await client.query(query)
      client.release()
      return result
    } catch (error) {
      // A connection that failed is not used again.
      client.release(!isRefusal(error))
      throw asStoreError(error)
    } finally {
      this.#callsInProgress--
    }
  }

  /** Not for the calls of a batch: they began before. */
  #refuseIfClosing(): void {
    if (this.#closing !== undefined) throw new CarillonError('UNAVAILABLE', 'The store is closed')
  }

  // Waits for a connection, at most as long as the pool allows and with at most `maxWaiting` other calls. If it throws,
  // nothing was done. The caller lowers `#callsInProgress` at its end.
  async #beginCall(): Promise<pg.PoolClient> {
    if (this.#pool.waitingCount >= maxWaiting) throw overloaded('Too many calls are waiting for the store')
    this.#callsInProgress++
    try {
      return await this.#pool.connect()
    } catch (error) {
      this.#callsInProgress--
      throw new CarillonError('UNAVAILABLE', 'The store cannot be reached now; nothing was done', { cause: error })
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

/**
 * Deadlocks, rows that another write added at the same time, and connections that the server or the network ended. A statement that timed
 * out has taken long enough.
 */
function mayRunAgain(error: unknown): boolean {
  if (error instanceof RunAgain) return true
  const code = sqlState(error)
  if (code === undefined)
    return error instanceof Error && ('code' in error || /terminated|queryable/.test(error.message))
  return /^(40001|40P01|23505|25P03|57P0[12]|08)/.test(code)
}

/** SQLSTATE classes of a system that fails: connection, rollback, resources, operator, system; a server in recovery. */
const systemFailures = /^(08|40|53|57|58|XX|25006|55P03)/

/** The server refused the statement or rolled it back, and the connection still works. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR'
}

export function asStoreError(error: unknown): unknown {
  if (error instanceof CarillonError) return error
  const code = sqlState(error)
  if (code === undefined) return wentAway(error)
  if (code === refusedWriteState) return writeRefusal(error)
  if (!systemFailures.test(code)) return error
  // After an error the transaction was rolled back; after a fatal error it may have been committed.
  return isRefusal(error) ? takenBack(error) : outcomeUnknown(error)
}

/** The SQLSTATE that the server sent (PostgreSQL manual, appendix A), or undefined if it sent none. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** Deadlocks and locks that another transaction holds for long: the other calls of the batch are free of them. */
const conflicts = /^(40|55P03)/

/** True if the server rolled the batch back because of one of its calls. */
function isOfOneCall(error: unknown): boolean {
  if (!(error instanceof CarillonError)) return true
  return conflicts.test(sqlState(error.cause) ?? '')
}
