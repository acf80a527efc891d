// What transfer/ leaves in a database: a move its table, and triggers that refuse writes; a filling an entry in the ledger of migrations.
import { CarillonError, unavailable } from '../basics/errors.ts'

/** Exists while the database refuses every write, during a move and after it. Its column `state` has a `Move`, as JSON. */
export const movingTable = 'carillon_moving'
/** `target` is displayed to people. */
export type Move = { id: string; target: string; startedAt: number; endedAt: number | null }

/** What the triggers that refuse writes raise. PostgreSQL sends it with this SQLSTATE. */
export const refusedWrite = 'carillon: this database is being moved'
export const refusedWriteState = 'CA001'

/** `source` names the rows that fill a database, `run` the one call that writes them, `call` the command. */
export type Filling = { source: string; run: string; call: string }
/** The name of the entry begins with it: a migration that no program knows, so none uses a database that is not filled completely. */
export const fillingPrefix = 'filling '

export function entryOf(filling: Filling): string {
  return fillingPrefix + JSON.stringify(filling)
}

export function fillingIn(ledger: readonly string[]): Filling | undefined {
  const entry = ledger.find((name) => name.startsWith(fillingPrefix))
  return entry === undefined ? undefined : JSON.parse(entry.slice(fillingPrefix.length))
}

/** Throws UNAVAILABLE. */
export function refuseIncomplete(ledger: readonly string[], name = 'The database'): void {
  const filling = fillingIn(ledger)
  if (filling === undefined) return
  const problem = `${name} has only a part of its rows: a restore or a move into it is not done`
  throw unavailable(problem, `Run the same command again, and it continues: ${filling.call}`)
}

export function writeRefusal(cause: unknown): CarillonError {
  const message = 'This database is being moved, and can only be read'
  return new CarillonError('UNAVAILABLE', message, {
    remedy: 'Writing works again when the service runs on the new database.',
    cause,
    retryAfter: 30,
    report: 'overload',
  })
}
