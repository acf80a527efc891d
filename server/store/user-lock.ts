// How changes of one user take turns.
import { lock, onCitus, type Write } from './statements/statements.ts'

/** Locks the row of a user until the end of the transaction. False without such a user. */
export function* lockUser(userId: string): Write<boolean> {
  yield* lockUsers()
  return (yield* lock`select 1 from "user" where id = ${userId}`) !== undefined
}

/**
 * Citus copies the table of users to every node, and a row lock locks the whole copy on each node: two callers that upgrade such a lock
 * would deadlock. So changes of all users take turns there.
 */
export function* lockUsers(): Write<void> {
  yield* onCitus`select pg_advisory_xact_lock(hashtext('carillon users'))`
}
