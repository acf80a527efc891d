// Finds a one-time link by the hash of its token.
import type { Link } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

export const linkByHash = `select user_id as "userId", purpose, expires_at as "expiresAt", email
  from one_time_link where token_hash = ?`

export async function findLink(reader: Reader, tokenHash: string): Promise<Link | undefined> {
  return reader.objects<Link>(linkByHash, tokenHash)[0]
}
