// How a token revocation names an erased user: by a hash, so that no row has the user's id.
import { hash } from 'node:crypto'

const prefix = 'erased-'

export function erasedKey(userId: string): string {
  return prefix + hash('sha256', userId, 'base64url')
}

export function isErasedKey(name: string): boolean {
  return name.startsWith(prefix)
}
