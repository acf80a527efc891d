// How does the log name a username that no user has? By a keyed hash. The same name has the same hash on every node, so
// that an operator can count attempts, but a password typed into the username field cannot be guessed from the log.
import { createHmac, hkdfSync } from 'node:crypto'

/** 96 bits in 16 characters: two different names practically never have the same hash. */
const hashLength = 16

/** The key is derived from the service's secret: without it the log reveals no name. */
export function nameHasher(secret: string): (name: string) => string {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'carillon names in the log', 32))
  return (name) => createHmac('sha256', key).update(name).digest('base64url').slice(0, hashLength)
}
