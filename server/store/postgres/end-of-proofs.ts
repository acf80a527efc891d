// After a change that ended every session and token of a user: the processes learn of it.
import type { Database, Row } from './connection/connection.ts'

/** `row` has whether the user was there. */
export function signalEndOfProofs(db: Database, userId: string, row: Row | undefined): 'done' | 'absent' {
  if (row?.[0] !== true) return 'absent'
  db.changeSignals.send({ about: 'session', userId })
  db.changeSignals.send({ about: 'token-revocation' })
  return 'done'
}
