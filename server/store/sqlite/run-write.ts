// Runs a write that is written once for both engines, in the transaction of the writer thread.
import type { AuditEntry, ChangeSignal } from '../events.ts'
import type { Statement, Write } from '../statements/statements.ts'
import { boundValues, Texts } from '../statements/templates.ts'
import type { Database, Statement as Prepared } from './database.ts'

export type WriteContext = {
  prepared: Texts<Prepared>
  /** Queues a change signal. It is sent after the commit, and only if the commit succeeds. */
  signal: (signal: ChangeSignal) => void
  /** The entries that the write added to the audit log. */
  recorded: AuditEntry[]
}

export function preparedIn(database: Database): Texts<Prepared> {
  return new Texts('sqlite', (text) => database.prepare(text))
}

export function runWrite<Result>(write: Write<Result>, context: WriteContext): Result {
  let step = write.next()
  while (!step.done) step = write.next(outcomeOf(step.value, context))
  return step.value
}

function outcomeOf(statement: Statement, context: WriteContext): unknown {
  switch (statement.kind) {
    case 'record':
      return context.recorded.push(...statement.entries)
    case 'signal':
      return context.signal(statement.signal)
    case 'postgres':
    case 'sendOnPostgres':
    case 'citus':
      return undefined
    case 'get':
    case 'lock':
      return context.prepared.of(statement).get(...boundValues(statement, 'sqlite'))
    case 'run':
      return Number(context.prepared.of(statement).run(...boundValues(statement, 'sqlite')).changes)
    case 'send':
      return context.prepared.of(statement).run(...boundValues(statement, 'sqlite'))
    default:
      return context.prepared.of(statement).all(...boundValues(statement, 'sqlite'))
  }
}
