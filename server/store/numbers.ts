import type { Durations } from '../basics/counts.ts'

export type StoreNumbers = {
  /** A commit begins when the writes are handed over. */
  commits: Durations
  written: number
  waiting: number
  pool?: { open: number; idle: number }
  /** Only SQLite has files; sizes are in bytes. */
  files?: { database: number; log: number }
}
