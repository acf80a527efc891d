// What every write receives: its statements on the writer thread's connection, and how it reports a change.
import type { AuditEntry, ChangeSignal } from '../events.ts'
import type { Texts } from '../statements/templates.ts'

import type { Statement } from './database.ts'

export type WriteContext = {
  /** The statements of what is written once for both engines. */
  prepared: Texts<Statement>
  /** Queues a change signal. It is sent after the commit, and only if the commit succeeds. */
  signal: (signal: ChangeSignal) => void
  /** The entries that the write added to the audit log. */
  recorded: AuditEntry[]
}
