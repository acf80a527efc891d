// Was anything stored, and may the write run again? Loads no `pg`.
import type { DatabaseError } from 'pg'
import { CarillonError } from '../../../basics/errors.ts'
import { RunAgain } from '../../statements.ts'
import { refusedWriteState, writeRefusal } from '../../transfer-state.ts'
import { outcomeUnknown, takenBack, wentAway } from '../../unavailable.ts'

/** A timeout is none of these, because it took long enough. */
export function mayRunAgain(error: unknown): boolean {
  if (error instanceof RunAgain) return true
  const code = sqlState(error)
  if (code === undefined)
    return error instanceof Error && ('code' in error || /terminated|queryable/.test(error.message))
  return /^(40001|40P01|23505|25P03|57P0[12]|08)/.test(code)
}

/** Failures of connection, rollback, resources, operator, system; a server in recovery. */
const systemFailures = /^(08|40|53|57|58|XX|25006|55P03)/

/** The server refused or rolled back, and the connection still works. */
export function isRefusal(error: unknown): boolean {
  return (error as Partial<DatabaseError> | null)?.severity === 'ERROR'
}

export function asStoreError(error: unknown): unknown {
  if (error instanceof CarillonError) return error
  const code = sqlState(error)
  if (code === undefined) return wentAway(error)
  if (code === refusedWriteState) return writeRefusal(error)
  if (!systemFailures.test(code)) return error
  // After an error the server rolled back; after a fatal error it may have committed.
  return isRefusal(error) ? takenBack(error) : outcomeUnknown(error)
}

/** PostgreSQL manual, appendix A. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'severity' in error ? (error as DatabaseError).code : undefined
}

/** A deadlock or a long-held lock concerns one call. */
export function isOfOneCall(error: unknown): boolean {
  return !(error instanceof CarillonError) || /^(40|55P03)/.test(sqlState(error.cause) ?? '')
}
