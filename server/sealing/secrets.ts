// How is a secret stored, and when are two secrets equal? Only the hash of a secret is stored, so that a reader of the database
// learns no secret. A comparison takes the same time at whichever character two values differ, so its duration reveals nothing about
// a guess. tools/lint/secrets.grit refuses any other comparison.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Both are hashed first: `timingSafeEqual` throws for different lengths, and a check of the length would reveal it. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

/** Compares two values of `hashOf`, which have one length, so they are not hashed again. */
export function equalHashes(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

/** SHA-256 as base64url. For secrets of 32 random bytes, which cannot be guessed from their hash; not for passwords. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

/** Without l, o, 0 and 1, which look alike. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Characters with five random bits each, in groups joined by hyphens: easy to read out and to type. */
export function randomGroups({ groups, of: length }: { groups: number; of: number }): string {
  const group = () => Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('')
  return Array.from({ length: groups }, group).join('-')
}
