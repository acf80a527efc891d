// The transfer state: the tables and triggers that a restore or a move leaves in a database, and what the engines say when they find
// them. transfer/ creates and removes them.
import { CarillonError } from '../basics/errors.ts'

/** Exists while a move or a restore fills the database. Its column `state` has the id of that one, as JSON. */
export const fillingTable = 'carillon_filling'
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

export function halfFilled(): CarillonError {
  return new CarillonError('UNAVAILABLE', 'This database is half filled by a move or a restore that is not done', {
    remedy: 'Run the same command again to finish it.',
  })
}
