// Ids of all stored objects: UUIDv7 (RFC 9562, section 5.7), so that they sort roughly by the time of their creation.
import { randomFillSync } from 'node:crypto'
import { v7, validate } from 'uuid'

// Random bytes are fetched for many ids at once: one system call per id would make an id eight times as expensive.
const pool = new Uint8Array(4096)
let taken = pool.length

/** A new id whose first 48 bits are `at`, in milliseconds. */
export function newId(at: number): string {
  return v7({ msecs: at, random: sixteenRandomBytes() })
}

let lastOrdered = { at: -1, seq: 0 }

/** As `newId`; those that this process makes for the same millisecond one after another sort in this order (RFC 9562, section 6.2). */
export function newOrderedId(at: number): string {
  lastOrdered = { at, seq: lastOrdered.at === at ? lastOrdered.seq + 1 : 0 }
  return v7({ msecs: at, seq: lastOrdered.seq, random: sixteenRandomBytes() })
}

function sixteenRandomBytes(): Uint8Array {
  if (taken === pool.length) {
    randomFillSync(pool)
    taken = 0
  }
  taken += 16
  return pool.subarray(taken - 16, taken)
}

/** Sorts before every id from `newId` of this moment or later, and after every earlier one. */
export function firstIdAt(at: number): string {
  const time = Math.max(0, at).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

/** The `at`, in milliseconds, of an id from `newId`. */
export function madeAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** Whether a text could be the id of a stored object. */
export function isIdShaped(text: string): boolean {
  return validate(text)
}
