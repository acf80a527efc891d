// Adds, touches, ends and removes sessions. Each write runs in the writer thread's transaction.
import {
  type EndedSession,
  type Familiarity,
  type Input,
  isLive,
  type NewSession,
  type SessionKey,
  type SessionSignIn,
} from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'
import { noteDeviceOf } from './devices.ts'
import { revokeTokens } from './tokens.ts'

type Added = { revoked: { userId: string; signInId: string }[]; device?: Familiarity } | 'refused'

export function addSession(context: WriteContext, session: NewSession): Added {
  const { deviceGeneration = null } = session.from ?? {}
  const { changes } = context.sql.run`
    insert into session (user_id, secret_hash, username, created_at, last_seen_at, sign_in_id, device, address, has_tokens)
    select id, ${session.secretHash}, coalesce(username, ''), ${session.at}, ${session.at}, ${session.signInId},
      ${session.device}, ${session.address}, 0
    from user
    where id = ${session.userId} and disabled_at is null and credential_generation = ${session.checkedGeneration}
      and device_generation = coalesce(${deviceGeneration}, device_generation)`
  if (changes === 0) return 'refused'
  const { userId, replaces, at, revocationExpiresAt, from } = session
  const end = { at, revocationExpiresAt }
  const ended = endSessions(context, { keys: replaces, ...end })
  ended.push(...endSessions(context, { keys: surplusOf(context, session), ...end }))
  recordAudit(context, session.audit)
  const revoked = ended.flatMap((one) => (one.hadTokens ? [{ userId: one.userId, signInId: one.signInId }] : []))
  return { revoked, ...(from && { device: noteDeviceOf(context.sql, { userId, device: from, at }) }) }
}

/** The oldest sessions beyond the limit; never the new one, whatever the clock says. */
function surplusOf({ sql }: WriteContext, { userId, secretHash, maxSessions }: NewSession): SessionKey[] {
  if (maxSessions === undefined) return []
  const rows = sql.all`
    select secret_hash as "secretHash" from session where user_id = ${userId} and secret_hash <> ${secretHash}
    order by created_at desc, secret_hash limit -1 offset ${maxSessions - 1}`
  return rows.map((row) => ({ userId, secretHash: row.secretHash as string }))
}

export function confirmSession(context: WriteContext, session: Input<'confirmSession'>): 'done' | 'absent' {
  const { userId, secretHash, at, audit } = session
  const { changes } = context.sql.run`
    update session set confirmed_at = ${at} where user_id = ${userId} and secret_hash = ${secretHash}`
  if (changes === 0) return 'absent'
  recordAudit(context, audit)
  return 'done'
}

export function renewSession({ sql }: WriteContext, renewal: Input<'renewSession'>): 'done' | 'absent' {
  const { userId, secretHash, newHash, lastSeenAt } = renewal
  const { changes } = sql.run`
    update session set secret_hash = ${newHash}, old_hash_1 = secret_hash, old_hash_2 = old_hash_1, old_hash_3 = old_hash_2,
      secret_used_at = null, last_seen_at = ${lastSeenAt}
    where user_id = ${userId} and secret_hash = ${secretHash}`
  return changes === 0 ? 'absent' : 'done'
}

export function touchSession({ sql }: WriteContext, { userId, secretHash, at }: Input<'touchSession'>): void {
  sql.run`
    update session set last_seen_at = max(last_seen_at, ${at}), secret_used_at = coalesce(secret_used_at, ${at})
    where user_id = ${userId} and secret_hash = ${secretHash}`
}

export function signInOfSession({ sql }: WriteContext, session: Input<'signInOfSession'>): SessionSignIn | undefined {
  const { userId, secretHash } = session
  sql.run`
    update session set has_tokens = 1 where user_id = ${userId} and secret_hash = ${secretHash} and has_tokens = 0`
  const found = sql.get`
    select s.sign_in_id as "signInId", u.credential_generation as "credentialGeneration", s.created_at as "createdAt",
      s.last_seen_at as "lastSeenAt"
    from session s join user u on u.id = s.user_id where s.user_id = ${userId} and s.secret_hash = ${secretHash}`
  return found === undefined ? undefined : ({ ...found } as SessionSignIn)
}

export function endSessions(context: WriteContext, { keys, ...end }: Input<'endSessions'>): EndedSession[] {
  return keys.flatMap((key, n) => {
    const ended = endSession(context, { ...key, ...end })
    if (ended === undefined) return []
    const entry = end.audit?.[n]
    if (entry !== undefined && isLive(ended, end.live)) recordAudit(context, [{ ...entry, signInId: ended.signInId }])
    return [ended]
  })
}

function endSession(
  context: WriteContext,
  { userId, secretHash, at, revocationExpiresAt }: SessionKey & Omit<Input<'endSessions'>, 'keys'>,
): EndedSession | undefined {
  const ended = context.sql.get`
    delete from session where user_id = ${userId} and secret_hash = ${secretHash}
    returning user_id as "userId", nullif(username, '') as username, created_at as "createdAt", last_seen_at as "lastSeenAt",
      sign_in_id as "signInId", has_tokens as "hadTokens"`
  if (ended === undefined) return undefined
  context.signal({ about: 'session', userId })
  const { signInId, hadTokens, ...rest } = ended as Omit<EndedSession, 'hadTokens'> & { hadTokens: number }
  if (hadTokens === 1) revokeTokens(context, { userId, signInId, at, expiresAt: revocationExpiresAt })
  return { ...rest, signInId, hadTokens: hadTokens === 1 }
}

export function removeStaleSessions({ sql }: WriteContext, bounds: Input<'removeStaleSessions'>): void {
  sql.run`
    delete from session
    where created_at < ${bounds.createdBefore} or last_seen_at < ${bounds.lastSeenBefore}
      or last_seen_at > ${bounds.lastSeenAfter}`
}
