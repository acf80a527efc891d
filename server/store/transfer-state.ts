import { CarillonError, unavailable } from '../basics/errors.ts'

/** While it exists, the database refuses every write. `state`: a `Move` as JSON. */
export const movingTable = 'carillon_moving'
export type Move = { id: string; target: string; startedAt: number; endedAt: number | null }

/** PostgreSQL sends it with this SQLSTATE. */
export const refusedWrite = 'carillon: this database is being moved'
export const refusedWriteState = 'CA001'

/** `run`: the one call that writes the rows. */
export type Filling = { source: string; run: string; call: string }
/** A migration that no program knows, so none uses a database that is not filled. */
export const fillingPrefix = 'filling '

export function entryOf(filling: Filling): string {
  return fillingPrefix + JSON.stringify(filling)
}

export function fillingIn(ledger: readonly string[]): Filling | undefined {
  const entry = ledger.find((name) => name.startsWith(fillingPrefix))
  return entry === undefined ? undefined : JSON.parse(entry.slice(fillingPrefix.length))
}

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
