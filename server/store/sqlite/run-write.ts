// Runs a write that is written once for both engines, in the transaction of the writer thread.
import type { Statement, Write } from '../statements/statements.ts'
import { boundValues, Texts } from '../statements/templates.ts'
import type { WriteContext } from './context.ts'
import type { Database, Statement as Prepared } from './database.ts'

export function preparedIn(database: Database): Texts<Prepared> {
  return new Texts('sqlite', (text) => database.prepare(text))
}

export function runWrite<Result>(write: Write<Result>, context: WriteContext): Result {
  let step = write.next()
  while (!step.done) step = write.next(outcomeOf(step.value, context))
  return step.value
}

function outcomeOf(statement: Statement, context: WriteContext): unknown {
  if (statement.kind === 'record') return context.recorded.push(...statement.entries)
  if (statement.kind === 'signal') return context.signal(statement.signal)
  if (statement.kind === 'postgres' || statement.kind === 'citus') return undefined
  const prepared = context.prepared.of(statement)
  const values = boundValues(statement, 'sqlite')
  if (statement.kind === 'run' || statement.kind === 'send') return Number(prepared.run(...values).changes)
  return statement.kind === 'get' || statement.kind === 'lock' ? prepared.get(...values) : prepared.all(...values)
}
