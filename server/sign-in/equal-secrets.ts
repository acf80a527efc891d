// Are two secrets, or two hashes of secrets, equal? The one comparison of such values: it takes the same time wherever they
// differ, so its duration does not tell how much of a guess was right. tools/constant-time.test.ts refuses any other.
import { hash, timingSafeEqual } from 'node:crypto'

/** Both are hashed first: `timingSafeEqual` throws for different lengths, and a check of the length would tell it. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}
