// The writes of who may sign in: users, sessions, token cutoffs, keys. Each runs inside the writer's transaction.
import type { EndedSession, NewUser, Producer, SessionKey, SigningKey, TokenRevocation } from '../../store.ts'
import type { WriteContext } from './context.ts'

const dayMs = 24 * 3_600_000

export function addUser({ sql }: WriteContext, user: NewUser): 'added' | 'taken' {
  const { changes } = sql.run`
    insert into user (id, username, display_name, password_hash, created_at)
    values (${user.id}, ${user.username}, ${user.displayName}, ${user.passwordHash}, ${user.createdAt})
    on conflict (username) do nothing`
  return changes === 1 ? 'added' : 'taken'
}

type UserChange = { userId: string; at: number; revocationExpiresAt: number }

export function disableUser(context: WriteContext, change: UserChange): 'done' | 'absent' {
  const { changes } = context.sql.run`
    update user set disabled_at = coalesce(disabled_at, ${change.at}), credential_generation = credential_generation + 1
    where id = ${change.userId}`
  if (changes === 0) return 'absent'
  endEveryProof(context, change)
  return 'done'
}

export function setPassword(context: WriteContext, change: UserChange & { passwordHash: string }): 'done' | 'absent' {
  const { changes } = context.sql.run`
    update user set password_hash = ${change.passwordHash}, disabled_at = null,
      credential_generation = credential_generation + 1
    where id = ${change.userId}`
  if (changes === 0) return 'absent'
  endEveryProof(context, change)
  return 'done'
}

function endEveryProof(context: WriteContext, { userId, at, revocationExpiresAt }: UserChange): void {
  context.sql.run`delete from session where user_id = ${userId}`
  context.ring({ about: 'session', userId })
  revokeTokens(context, { userId, signInId: null, notBefore: at, expiresAt: revocationExpiresAt })
  context.sql.run`
    update token_cutoff set first_generation = (select credential_generation from user where id = ${userId})
    where user_id = ${userId} and sign_in_id = ''`
}

export function addSession(
  context: WriteContext,
  session: SessionKey & { checkedPasswordHash: string; at: number; replaces: readonly SessionKey[] },
): 'added' | 'refused' {
  const { changes } = context.sql.run`
    insert into session (user_id, secret_hash, username, created_at, last_seen_at)
    select id, ${session.secretHash}, username, ${session.at}, ${session.at} from user
    where id = ${session.userId} and disabled_at is null and password_hash = ${session.checkedPasswordHash}`
  if (changes === 0) return 'refused'
  endSessions(context, session.replaces)
  return 'added'
}

export function touchSession({ sql }: WriteContext, { userId, secretHash, at }: SessionKey & { at: number }): void {
  sql.run`
    update session set last_seen_at = max(last_seen_at, ${at})
    where user_id = ${userId} and secret_hash = ${secretHash}`
}

export function endSessions(context: WriteContext, keys: readonly SessionKey[]): EndedSession[] {
  return keys.map((key) => endSession(context, key)).filter((ended) => ended !== undefined)
}

function endSession({ sql, ring }: WriteContext, { userId, secretHash }: SessionKey): EndedSession | undefined {
  const ended = sql.get`
    delete from session where user_id = ${userId} and secret_hash = ${secretHash}
    returning username, created_at, last_seen_at`
  if (ended === undefined) return undefined
  ring({ about: 'session', userId })
  const { username, created_at: createdAt, last_seen_at: lastSeenAt } = ended
  return { userId, username: username as string, createdAt: createdAt as number, lastSeenAt: lastSeenAt as number }
}

export function removeStaleSessions(
  { sql }: WriteContext,
  bounds: { createdBefore: number; lastSeenBefore: number; lastSeenAfter: number },
): void {
  sql.run`
    delete from session
    where created_at < ${bounds.createdBefore} or last_seen_at < ${bounds.lastSeenBefore}
      or last_seen_at > ${bounds.lastSeenAfter}`
}

export function revokeTokens({ sql, ring }: WriteContext, revocation: Omit<TokenRevocation, 'firstGeneration'>): void {
  // A day later than it could: if the clock is set back in between, the tokens of that time are valid again.
  sql.run`delete from token_cutoff where expires_at <= ${revocation.notBefore - dayMs}`
  sql.run`
    insert into token_cutoff (user_id, sign_in_id, not_before, expires_at)
    values (${revocation.userId}, ${revocation.signInId ?? ''}, ${revocation.notBefore}, ${revocation.expiresAt})
    on conflict (user_id, sign_in_id) do update set
      not_before = max(not_before, excluded.not_before), expires_at = max(expires_at, excluded.expires_at)`
  ring({ about: 'token-revocation' })
}

export function ensureSigningKey({ sql }: WriteContext, key: SigningKey): void {
  sql.run`
    insert into signing_key (kid, public_jwk, sealed_private_jwk, created_at)
    select ${key.kid}, ${key.publicJwk}, ${key.sealedPrivateJwk}, ${key.createdAt}
    where not exists (select 1 from signing_key)`
}

export function addProducer({ sql }: WriteContext, producer: Omit<Producer, 'revokedAt' | 'lastUsedAt'>): void {
  sql.run`
    insert into producer (id, name, secret_hash, scopes, created_at, expires_at)
    values (${producer.id}, ${producer.name}, ${producer.secretHash}, ${producer.scopes.join(',')},
      ${producer.createdAt}, ${producer.expiresAt})`
}

export function revokeProducer(
  { sql }: WriteContext,
  { producerId, at }: { producerId: string; at: number },
): 'done' | 'absent' {
  const { changes } = sql.run`
    update producer set revoked_at = coalesce(revoked_at, ${at}) where id = ${producerId}`
  return changes === 1 ? 'done' : 'absent'
}

export function touchProducer({ sql }: WriteContext, { producerId, at }: { producerId: string; at: number }): void {
  sql.run`update producer set last_used_at = ${at} where id = ${producerId}`
}

/** For whoever asks whether a write can be made at all. */
export function changeNothing({ sql }: WriteContext, _: null): void {
  sql.run`delete from token_cutoff where expires_at < 0`
}
