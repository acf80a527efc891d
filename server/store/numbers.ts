import type { Durations } from '../basics/counts.ts'

export type StoreNumbers = {
  commits: Durations
  written: number
  waiting: number
  pool?: { open: number; idle: number }
  files?: { database: number; log: number }
}
