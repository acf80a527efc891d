// Are two secrets, or two hashes of secrets, equal? The one comparison of such values. It takes the same time at whichever
// character they differ, so its duration reveals nothing about a guess. tools/checks/constant-time.test.ts refuses any other.
import { hash, timingSafeEqual } from 'node:crypto'

/** Both are hashed first: `timingSafeEqual` throws for different lengths, and a check of the length would reveal it. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}
