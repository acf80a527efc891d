// What every write is given: SQL on the writer's connection (prepared once, values bound, never spliced) and the bell.
import type { SQLTagStore } from 'node:sqlite'
import type { Ring } from '../../store.ts'

export type WriteContext = {
  sql: SQLTagStore
  /** Rings after the commit, and only where there is one. */
  ring: (ring: Ring) => void
}
