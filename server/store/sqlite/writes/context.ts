// What every write is given: SQL on the writer's connection (prepared once, values bound, never spliced) and the bell.
import type { SQLTagStore } from 'node:sqlite'
import type { ChangeSignal } from '../../store.ts'

export type WriteContext = {
  sql: SQLTagStore
  /** ChangeSignals after the commit, and only where there is one. */
  ring: (ring: ChangeSignal) => void
}
