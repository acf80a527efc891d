// Ids of everything that is kept: UUIDv7 (RFC 9562, section 5.7), so that they sort roughly by time of making.
import { v7 } from 'uuid'

/** A fresh id whose first 48 bits are `at`, in milliseconds. */
export function newId(at: number): string {
  return v7({ msecs: at })
}

/** The moment, in milliseconds, that an id from newId was made for. */
export function madeAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
