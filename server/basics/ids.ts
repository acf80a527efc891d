// RFC 9562, section 5.7: ids sort roughly by creation.
import { randomUUID } from 'node:crypto'

export function newId(at: number): string {
  return `${firstIdAt(at)}-7${randomUUID().slice(15)}`
}

/** Returns an id of the same moment and ending, 36 of the random bits. */
export function newIdBeside(id: string): string {
  return newId(madeAt(id)).slice(0, -endingLength) + endingOf(id)
}

const endingLength = 9

export function endingOf(id: string): string {
  return id.slice(-endingLength)
}

let lastOrdered = { at: -1, seq: 0 }

/** 24 bits count ids of one millisecond (RFC 9562, section 6.2). */
export function newOrderedId(at: number): string {
  lastOrdered = { at, seq: lastOrdered.at === at ? lastOrdered.seq + 1 : 0 }
  const seq = lastOrdered.seq.toString(16).padStart(6, '0')
  return `${firstIdAt(at)}-7${seq.slice(0, 3)}-8${seq.slice(3)}${randomUUID().slice(23)}`
}

/** Sorts before every id of this moment or later. */
export function firstIdAt(at: number): string {
  const time = Math.max(0, at).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

export function madeAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

export function isIdShaped(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i.test(text)
}
