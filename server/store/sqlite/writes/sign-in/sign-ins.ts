// Ends the sign-ins of a user, and notes the devices that users sign in from. Each write runs in the writer thread's transaction.
import { firstIdAt } from '../../../../ids.ts'
import type { Familiarity, Input } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'
import { forgetDevices, noteDeviceOf } from './devices.ts'
import { endProofs, isExceptionAlive } from './proofs.ts'
import { revokeTokens } from './tokens.ts'

export function endOtherSignIns(context: WriteContext, change: Input<'endOtherSignIns'>): 'done' | 'refused' {
  if (!isExceptionAlive(context, change)) return 'refused'
  context.sql.run`
    update user set credential_generation = credential_generation + 1 where id = ${change.userId}`
  endProofs(context, change)
  recordAudit(context, change.audit)
  return 'done'
}

type End = Input<'endSignIn'>

export function endSignIn(context: WriteContext, end: End): 'stateful' | 'stateless' | 'absent' {
  const { userId, signInId, at, revocationExpiresAt, disowned } = end
  const variant = isSessionAlive(context, end) ? 'stateful' : 'stateless'
  const isFound = variant === 'stateful' || end.isOwn || isTokenAlive(context, end)
  if (!isFound && !(disowned !== undefined && isRecorded(context, end))) return 'absent'
  // Ends the session too.
  revokeTokens(context, { userId, signInId, at, expiresAt: revocationExpiresAt })
  if (disowned !== undefined) {
    context.sql.run`
      update user set device_generation = device_generation + 1, password_reported_at = ${at} where id = ${userId}`
    forgetDevices(context.sql, userId)
    noteDeviceOf(context.sql, { userId, at, device: disowned })
  }
  recordAudit(context, end.audit)
  return variant
}

function isSessionAlive({ sql }: WriteContext, { userId, signInId, alive }: End): boolean {
  const { createdAfter, lastSeenAfter, lastSeenUntil } = alive.sessions
  const found = sql.get`
    select 1 from session where user_id = ${userId} and sign_in_id = ${signInId}
      and created_at > ${createdAfter} and last_seen_at > ${lastSeenAfter} and last_seen_at <= ${lastSeenUntil}`
  return found !== undefined
}

/** The entry of a sign-in has the time of its id. */
function isRecorded({ sql }: WriteContext, { userId, signInId }: End): boolean {
  const found = sql.get`
    select 1 from audit where user_id = ${userId} and id >= substr(${signInId}, 1, 13)
      and sign_in_id = ${signInId} and event = 'sign-in' limit 1`
  return found !== undefined
}

/** By the same rules as the list of reads/sign-ins.ts. */
function isTokenAlive({ sql }: WriteContext, { userId, signInId, alive }: End): boolean {
  const found = sql.get`
    select 1 from audit a join user u on u.id = a.user_id
    where a.user_id = ${userId} and a.id >= ${firstIdAt(alive.tokensSince)} and a.sign_in_id = ${signInId}
      and not exists (select 1 from token_cutoff where user_id = ${userId} and sign_in_id = ${signInId})
    group by a.sign_in_id
    having max(a.event = 'sign-in' and a.detail ->> 'variant' = 'stateless' and (
        a.detail ->> 'generation' = u.credential_generation
        or exists (select 1 from token_cutoff
          where user_id = ${userId} and sign_in_id = '' and except_sign_in_id = ${signInId}))) = 1
      and max(a.event in ('sign-out', 'session-ended', 'sign-in-disowned')) = 0`
  return found !== undefined
}

export function noteDevice(context: WriteContext, note: Input<'noteDevice'>): Familiarity | 'absent' {
  const { deviceGeneration = null } = note.device
  const user = context.sql.get`
    select 1 from user where id = ${note.userId} and device_generation = coalesce(${deviceGeneration}, device_generation)`
  if (user === undefined) return 'absent'
  recordAudit(context, note.audit)
  return noteDeviceOf(context.sql, note)
}
