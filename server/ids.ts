// Ids of everything that is kept: UUIDv7 (RFC 9562, section 5.7), so that they sort roughly by time of making.
import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

// Drawn many at a time: a call to the system for each id costs eight times the id.
const pool = new Uint8Array(4096)
let taken = pool.length

/** A fresh id whose first 48 bits are `at`, in milliseconds. */
export function newId(at: number): string {
  return v7({ msecs: at, random: sixteenRandomBytes() })
}

function sixteenRandomBytes(): Uint8Array {
  if (taken === pool.length) {
    randomFillSync(pool)
    taken = 0
  }
  taken += 16
  return pool.subarray(taken - 16, taken)
}

/** The moment, in milliseconds, that an id from newId was made for. */
export function madeAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
