// How does the log name a username that no user has? By a keyed hash. The same name has the same hash on every node, so
// that an operator can count attempts, but a password typed into the username field cannot be guessed from the log.
import type { Sealing } from './sealing.ts'

/** 96 bits in 16 characters: two different names practically never have the same hash. */
const hashLength = 16

/** The key is derived from the service's secret: without it the log reveals no name. */
export function nameHasher(sealing: Sealing): (name: string) => string {
  return (name) => sealing.mac('names', name).slice(0, hashLength)
}
