// What transfer/ leaves in a database: a table for move or maintenance, an entry for a filling.
import { CarillonError, messageOf, unavailable } from '../basics/errors.ts'

/** PostgreSQL sends it with this SQLSTATE. */
export const refusedWrite = {
  moving: 'carillon: this database is being moved',
  maintenance: 'carillon: this service is in maintenance',
} as const
export const refusedWriteState = 'CA001'
export type Refusing = keyof typeof refusedWrite

/** While it exists, the database refuses writes. `state`: a `Move` or `Maintenance` as JSON. */
export function tableOf(refusing: Refusing): string {
  return `carillon_${refusing}`
}

export type Move = { id: string; target: string; startedAt: number; endedAt: number | null }
export type Maintenance = { startedAt: number }

export function isRefusedWrite(error: unknown): boolean {
  return Object.values<string>(refusedWrite).includes(messageOf(error))
}

/** `run`: the one call that writes the rows. */
export type Filling = { source: string; run: string; call: string }
/** No program knows this migration, so none uses a database that is not filled. */
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
  const [message, remedy] =
    messageOf(cause) === refusedWrite.maintenance
      ? [
          'This service is in maintenance, and can only be read',
          'Try again later. An operator ends it: carillon maintenance off.',
        ]
      : [
          'This database is being moved, and can only be read',
          'Writing works again when the service runs on the new database.',
        ]
  return new CarillonError('UNAVAILABLE', message, {
    remedy,
    cause,
    retryAfter: 30,
    report: 'overload',
  })
}
