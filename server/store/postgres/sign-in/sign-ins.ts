// The sign-ins of a user, on PostgreSQL. The writes, and which stateless sign-ins are alive, are in functions/sign-in/sign-ins.sql.
import { firstIdAt } from '../../../ids.ts'
import type { AliveSignIns, Familiarity, Input, ListedSignIn } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { auditText } from './audit-text.ts'
import { signalEndOfProofs } from './end-of-proofs.ts'

export async function endOtherSignIns(db: Database, change: Input<'endOtherSignIns'>): Promise<'done' | 'refused'> {
  const { userId, at, revocationExpiresAt, exceptSignInId, exceptGeneration = null } = change
  const values = [userId, at, revocationExpiresAt, exceptSignInId, exceptGeneration, auditText(change.audit)]
  const row = await db.one('endOtherSignIns', 'select end_other_sign_ins($1, $2, $3, $4, $5, $6)', values)
  const outcome = row?.[0] as 'done' | 'refused'
  if (outcome === 'done') signalEndOfProofs(db, userId)
  return outcome
}

export async function listSignIns(db: Database, query: Input<'listSignIns'>): Promise<ListedSignIn[]> {
  // A statement of its own: Citus would run the function on the node of the sessions, where it may not read other tables.
  const ofTokens = await db.one(
    'tokenSignIns',
    "select coalesce(jsonb_agg(to_jsonb(one)), '[]')::text from token_sign_ins($1, $2) one",
    [query.userId, firstIdAt(query.alive.tokensSince)],
  )
  const text = `
    select sign_in_id as "signInId", variant, created_at as "createdAt",
      last_seen_at as "lastSeenAt", device, user_agent as "userAgent", address
    from (
      select sign_in_id collate "C" as sign_in_id, 'stateful' as variant, created_at, last_seen_at, device, null as user_agent, address
      from session
      where user_id = $1 and created_at > $4 and last_seen_at > $5 and last_seen_at <= $6
      union all
      select sign_in collate "C", 'stateless', created, last_seen, null, agent, from_address
      from jsonb_to_recordset($7::jsonb) as token (
        sign_in text, created bigint, last_seen bigint, agent text, from_address text
      )
    ) all_sign_ins
    where sign_in_id < $3 and ($3 = 'g' or sign_in_id <> $2)
    order by sign_in_id = $2 desc, sign_in_id desc limit $8`
  const { userId, ownSignInId, after = 'g', limit } = query
  const { createdAfter, lastSeenAfter, lastSeenUntil } = query.alive.sessions
  const values = [createdAfter, lastSeenAfter, lastSeenUntil, ofTokens?.[0] as string, limit]
  return db.objects<ListedSignIn>('listSignIns', text, [userId, ownSignInId, after, ...values])
}

export async function endSignIn(
  db: Database,
  change: Input<'endSignIn'>,
): Promise<'stateful' | 'stateless' | 'absent'> {
  const { userId, signInId, isOwn, at, revocationExpiresAt, disowned } = change
  const device = disowned === undefined ? null : JSON.stringify(disowned)
  const ends = [at, revocationExpiresAt, auditText(change.audit)]
  const values = [userId, signInId, aliveText(change.alive), isOwn, device, ...ends]
  const row = await db.one('endSignIn', 'select end_sign_in($1, $2, $3, $4, $5, $6, $7, $8)', values)
  const variant = row?.[0] as 'stateful' | 'stateless' | null
  if (variant !== null) signalEndOfProofs(db, userId)
  return variant ?? 'absent'
}

function aliveText({ sessions, tokensSince }: AliveSignIns): string {
  return JSON.stringify({ ...sessions, sinceId: firstIdAt(tokensSince) })
}

export async function noteDevice(
  db: Database,
  { userId, device, at, audit }: Input<'noteDevice'>,
): Promise<Familiarity | 'absent'> {
  const values = [userId, JSON.stringify(device), at, auditText(audit)]
  const row = await db.one('noteDevice', 'select note_sign_in($1, $2, $3, $4)', values)
  return (row?.[0] as Familiarity | null) ?? 'absent'
}
