// What a move leaves in a database: a table, and triggers that refuse writes. transfer/ creates and removes them.
import { CarillonError } from '../basics/errors.ts'

/** Exists while the database refuses every write, during a move and after it. Its column `state` has a `Move`, as JSON. */
export const movingTable = 'carillon_moving'
/** `target` is displayed to people. */
export type Move = { id: string; target: string; startedAt: number; endedAt: number | null }

/** What the triggers that refuse writes raise. PostgreSQL sends it with this SQLSTATE. */
export const refusedWrite = 'carillon: this database is being moved'
export const refusedWriteState = 'CA001'

export function writeRefusal(cause: unknown): CarillonError {
  const message = 'This database is being moved, and can only be read'
  return new CarillonError('UNAVAILABLE', message, {
    remedy: 'Writing works again when the service runs on the new database.',
    cause,
    retryAfter: 30,
    report: 'overload',
  })
}
