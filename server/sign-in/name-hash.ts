// How does the log name a username that no user has? By a keyed hash: the same name has the same hash on every node, so
// attempts can be counted, but a password that was typed into the field of the username cannot be guessed from the log.
import { createHmac, hkdfSync } from 'node:crypto'

/** 96 bits in 16 characters: no two names that anybody tries have the same one. */
const hashLength = 16

/** The key is made from the service's secret, so that the log tells nothing without it. */
export function nameHasher(secret: string): (name: string) => string {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'carillon names in the log', 32))
  return (name) => createHmac('sha256', key).update(name).digest('base64url').slice(0, hashLength)
}
