// Runs a write that is written once for both engines, in the transaction of the writer thread.
import type { Statement, Table, Write } from '../statements/statements.ts'
import { boundValues, Texts } from '../statements/templates.ts'
import { recordAudit } from './audit.ts'
import type { WriteContext } from './context.ts'
import type { Database, Statement as Prepared } from './database.ts'

export function preparedIn(database: Database): Texts<Prepared> {
  return new Texts('sqlite', (text) => database.prepare(text))
}

export type InContext<Of> = {
  [Name in keyof Of]: Of[Name] extends (change: infer Change) => Write<infer Result>
    ? (context: WriteContext, change: Change) => Result
    : never
}

export function inContext<Of extends Table<Statement>>(table: Of): InContext<Of> {
  const writes = Object.entries(table).map(([name, write]) => [
    name,
    (context: WriteContext, change: never) => runWrite(write(change), context),
  ])
  return Object.fromEntries(writes)
}

export function runWrite<Result>(write: Write<Result>, context: WriteContext): Result {
  let step = write.next()
  while (!step.done) step = write.next(outcomeOf(step.value, context))
  return step.value
}

function outcomeOf(statement: Statement, context: WriteContext): unknown {
  if (statement.kind === 'record') return recordAudit(context, statement.entries)
  if (statement.kind === 'signal') return context.signal(statement.signal)
  if (statement.kind === 'postgres' || statement.kind === 'citus') return undefined
  const prepared = context.prepared.of(statement)
  const values = boundValues(statement, 'sqlite')
  if (statement.kind === 'run' || statement.kind === 'send') return Number(prepared.run(...values).changes)
  return statement.kind === 'get' || statement.kind === 'lock' ? prepared.get(...values) : prepared.all(...values)
}
