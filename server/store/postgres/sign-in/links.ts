// The one-time links of the store on PostgreSQL. Their laws are in functions/sign-in/links.sql.
import type { Input, Link } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { auditText } from './audit-text.ts'
import { signalEndOfProofs } from './end-of-proofs.ts'

export async function addLink(db: Database, link: Input<'addLink'>): Promise<'done' | 'absent'> {
  const { userId, purpose, tokenHash, at, expiresAt, email, audit } = link
  const values = [userId, purpose, tokenHash, at, expiresAt, email, auditText(audit)]
  const row = await db.one('addLink', 'select add_link($1, $2, $3, $4, $5, $6, $7)', values)
  return row?.[0] === true ? 'done' : 'absent'
}

export async function findLink(db: Database, tokenHash: string): Promise<Link | undefined> {
  const text = `select user_id as "userId", purpose, expires_at as "expiresAt", email from one_time_link where token_hash = $1`
  return (await db.objects<Link>('link', text, [tokenHash]))[0]
}

export async function resetPassword(db: Database, change: Input<'resetPassword'>): Promise<'done' | 'refused'> {
  const { userId, tokenHash, passwordHash, at, revocationExpiresAt, audit } = change
  const values = [userId, tokenHash, passwordHash, at, revocationExpiresAt, auditText(audit)]
  const row = await db.one('resetPassword', 'select reset_password($1, $2, $3, $4, $5, $6)', values)
  if (row?.[0] !== true) return 'refused'
  signalEndOfProofs(db, userId)
  return 'done'
}

export async function removeExpiredLinks(db: Database, at: number): Promise<void> {
  await db.one('removeExpiredLinks', 'delete from one_time_link where expires_at <= $1', [at])
}
