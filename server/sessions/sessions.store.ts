// Adds, renews, touches and ends sessions. An engine finds a session in a form of its own, because every request with a cookie does.

import { note } from './devices.store.ts'
import { all, get, lock, type Read, record, run, send, signal, type Write } from '../store/statements/statements.ts'
import {
  type EndedSession,
  type Familiarity,
  type Input,
  isLive,
  type NewSession,
  type RenewedSession,
  type SessionKey,
  type SessionSignIn,
} from '../store/store.ts'
import { lockUsers } from '../store/user-lock.ts'
import { revoke } from '../tokens/tokens.store.ts'

export const sessionReads = { findRenewedSession }
export const sessionWrites = {
  addSession,
  confirmSession,
  renewSession,
  touchSession,
  signInOfSession,
  endSessions,
  removeStaleSessions,
}

type Added = { revoked: { userId: string; signInId: string }[]; device?: Familiarity } | 'refused'

/** Sign-ins of one user take turns: otherwise each of two could count without the other. */
function* addSession(session: NewSession): Write<Added> {
  const { userId, secretHash, at, revocationExpiresAt, from } = session
  const deviceGeneration = from?.deviceGeneration ?? null
  yield* lockUsers()
  const user = yield* lock<{ username: string }>`
    select coalesce(username, '') as username from "user"
    where id = ${userId} and disabled_at is null and credential_generation = ${session.checkedGeneration}
      and device_generation = coalesce(${deviceGeneration}, device_generation)`
  if (user === undefined) return 'refused'
  yield* send`
    insert into session (user_id, secret_hash, username, created_at, last_seen_at, sign_in_id, device, address, has_tokens)
    values (${userId}, ${secretHash}, ${user.username}, ${at}, ${at}, ${session.signInId}, ${session.device},
      ${session.address}, 0)`
  const end = { at, revocationExpiresAt }
  const ended = yield* endAll({ keys: session.replaces, ...end })
  ended.push(...(yield* endAll({ keys: yield* surplusOf(session), ...end })))
  yield* record(session.audit)
  const revoked = ended.flatMap((one) => (one.hadTokens ? [{ userId: one.userId, signInId: one.signInId }] : []))
  return { revoked, ...(from && { device: yield* note({ userId, device: from, at }) }) }
}

/** The oldest sessions beyond the limit; never the new one, whatever the clock says. */
function* surplusOf({ userId, secretHash, maxSessions }: NewSession): Read<SessionKey[]> {
  if (maxSessions === undefined) return []
  return yield* all<SessionKey>`
    select user_id as "userId", secret_hash as "secretHash" from session
    where user_id = ${userId} and secret_hash <> ${secretHash}
    order by created_at desc, secret_hash limit 1000 offset ${maxSessions - 1}`
}

function* confirmSession({ userId, secretHash, at, audit }: Input<'confirmSession'>): Write<'done' | 'absent'> {
  const changed = yield* run`
    update session set confirmed_at = ${at} where user_id = ${userId} and secret_hash = ${secretHash}`
  if (changed === 0) return 'absent'
  yield* record(audit)
  return 'done'
}

function* renewSession({ userId, secretHash, newHash, lastSeenAt }: Input<'renewSession'>): Write<'done' | 'absent'> {
  const changed = yield* run`
    update session set secret_hash = ${newHash}, old_hash_1 = secret_hash, old_hash_2 = old_hash_1, old_hash_3 = old_hash_2,
      secret_used_at = null, last_seen_at = ${lastSeenAt}
    where user_id = ${userId} and secret_hash = ${secretHash}`
  return changed === 0 ? 'absent' : 'done'
}

function* findRenewedSession({
  userId,
  secretHash,
  signInId = null,
}: Input<'findRenewedSession'>): Read<RenewedSession | undefined> {
  return yield* get<RenewedSession>`
    select secret_hash as "secretHash", sign_in_id as "signInId", created_at as "createdAt", last_seen_at as "lastSeenAt",
      secret_used_at as "secretUsedAt"
    from session
    where user_id = ${userId} and (${secretHash} in (old_hash_1, old_hash_2, old_hash_3) or sign_in_id = ${signInId})`
}

function* touchSession({ userId, secretHash, at }: Input<'touchSession'>): Write<void> {
  yield* send`
    update session set last_seen_at = case when last_seen_at < ${at} then ${at} else last_seen_at end,
      secret_used_at = coalesce(secret_used_at, ${at})
    where user_id = ${userId} and secret_hash = ${secretHash}`
}

function* signInOfSession({ userId, secretHash }: Input<'signInOfSession'>): Write<SessionSignIn | undefined> {
  yield* send`
    update session set has_tokens = 1 where user_id = ${userId} and secret_hash = ${secretHash} and has_tokens = 0`
  return yield* get<SessionSignIn>`
    select s.sign_in_id as "signInId", u.credential_generation as "credentialGeneration", s.created_at as "createdAt",
      s.last_seen_at as "lastSeenAt"
    from session s join "user" u on u.id = s.user_id where s.user_id = ${userId} and s.secret_hash = ${secretHash}`
}

function* endSessions(end: Input<'endSessions'>): Write<EndedSession[]> {
  return yield* endAll(end)
}

function* endAll({ keys, audit, live, ...end }: Input<'endSessions'>): Write<EndedSession[]> {
  const sessions: EndedSession[] = []
  for (const [n, key] of keys.entries()) {
    const ended = yield* endOne({ ...key, ...end })
    if (ended === undefined) continue
    sessions.push(ended)
    const entry = audit?.[n]
    if (entry !== undefined && isLive(ended, live)) yield* record([{ ...entry, signInId: ended.signInId }])
  }
  return sessions
}

type End = SessionKey & Pick<Input<'endSessions'>, 'at' | 'revocationExpiresAt'>

function* endOne({ userId, secretHash, at, revocationExpiresAt }: End): Write<EndedSession | undefined> {
  const session = yield* get<Omit<EndedSession, 'hadTokens'> & { hasTokens: number }>`
    delete from session where user_id = ${userId} and secret_hash = ${secretHash}
    returning user_id as "userId", nullif(username, '') as username, created_at as "createdAt",
      last_seen_at as "lastSeenAt", sign_in_id as "signInId", has_tokens as "hasTokens"`
  if (session === undefined) return undefined
  yield* signal({ about: 'session', userId })
  const { hasTokens, ...ended } = session
  const hadTokens = hasTokens === 1
  if (hadTokens) yield* revoke({ userId, signInId: ended.signInId, at, expiresAt: revocationExpiresAt })
  return { ...ended, hadTokens }
}

/** In statements of 1,000 rows, so that none takes long. */
function* removeStaleSessions(bounds: Input<'removeStaleSessions'>): Write<void> {
  const { createdBefore, lastSeenBefore, lastSeenAfter } = bounds
  let removed: number
  do
    removed = yield* run`
      delete from session where (user_id, secret_hash) in (
        select user_id, secret_hash from session
        where created_at < ${createdBefore} or last_seen_at < ${lastSeenBefore} or last_seen_at > ${lastSeenAfter}
        limit 1000)`
  while (removed === 1_000)
}
