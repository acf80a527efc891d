// The marks that a move leaves in a database, as whoever opens it or writes to it meets them. Who sets and removes them
// is portable/.
import { CarillonError } from '../errors.ts'

/** Is there while a database is being filled by a move or a restore: it holds how far that is. */
export const fillingTable = 'carillon_filling'
/** Is there while a database refuses every write, because it is being moved or was: it holds which move. */
export const movingTable = 'carillon_moving'
/** Is there in a backup of SQLite: it holds what the backup should hold. */
export const backupTable = 'carillon_backup'

/** What the triggers of a database that refuses writes raise; PostgreSQL under this SQLSTATE. */
export const refusedWrite = 'carillon: this database is being moved'
export const refusedWriteState = 'CA001'

const refusedWriteRetrySeconds = 30

export function writeRefusal(cause: unknown): CarillonError {
  const message = 'This database is being moved, and can only be read'
  return new CarillonError('UNAVAILABLE', message, {
    remedy: 'Writing works again when the service runs on the new database.',
    cause,
    retryAfter: refusedWriteRetrySeconds,
    report: 'overload',
  })
}

/** For whoever would use a database that is not whole yet. */
export function halfFilled(): CarillonError {
  return new CarillonError('UNAVAILABLE', 'This database is half filled by a move or a restore that is not done', {
    remedy: 'Run the same command again to finish it.',
  })
}
