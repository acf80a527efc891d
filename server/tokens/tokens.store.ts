// Revocations of access tokens.
import {
  all,
  get,
  onPostgres,
  type Read,
  record,
  run,
  send,
  signal,
  type Write,
} from '../store/statements/statements.ts'
import { type Input, issuedSignIns, type TokenRevocation } from '../store/store.ts'
import { lockUsers } from '../store/user-lock.ts'

export const tokenReads = { tokenRevocations }
export const tokenWrites = { revokeTokens, revokeIssuedTokens }

const dayMs = 24 * 3_600_000

function* revokeTokens(revocation: Input<'revokeTokens'>): Write<void> {
  yield* revoke(revocation)
  yield* record(revocation.audit)
}

function* revokeIssuedTokens(change: Input<'revokeIssuedTokens'>): Write<'done' | 'absent'> {
  const { userId, at, revocationExpiresAt } = change
  yield* lockUsers()
  const user = yield* get<{ generation: number }>`
    update "user" set issued_generation = issued_generation + 1 where id = ${userId} returning issued_generation as generation`
  if (user === undefined) return 'absent'
  yield* revoke({ userId, signInId: issuedSignIns, at, expiresAt: revocationExpiresAt })
  yield* send`
    update token_cutoff set first_generation = ${user.generation}
    where user_id = ${userId} and sign_in_id = ${issuedSignIns}`
  yield* record(change.audit)
  return 'done'
}

/**
 * With the tokens of a sign-in, the session that it belongs to ends. The session is locked first, as everywhere. With '' as the sign-in,
 * it revokes those of every sign-in of the user; the caller sets the generation.
 */
export function* revoke({ userId, signInId, at, expiresAt }: Omit<Input<'revokeTokens'>, 'audit'>): Write<void> {
  const ended =
    signInId === '' ? 0 : yield* run`delete from session where user_id = ${userId} and sign_in_id = ${signInId}`
  if (ended > 0) yield* signal({ about: 'session', userId })
  yield* removeExpired(at)
  yield* send`
    insert into token_cutoff (user_id, sign_in_id, expires_at) values (${userId}, ${signInId}, ${expiresAt})
    on conflict (user_id, sign_in_id) do update set expires_at =
      case when excluded.expires_at > token_cutoff.expires_at then excluded.expires_at else token_cutoff.expires_at end`
  yield* signal({ about: 'token-revocation' })
}

/**
 * Expired rows are kept for another day: if the clock is set back in between, the tokens of that time are valid again. One caller at a time
 * removes rows; the others do not wait.
 */
function* removeExpired(at: number): Write<void> {
  const turn = yield* onPostgres<{ isMine: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('carillon token_cutoff')) as "isMine"`
  if (turn?.isMine !== false) yield* send`delete from token_cutoff where expires_at <= ${at - dayMs}`
}

function* tokenRevocations(now: number): Read<TokenRevocation[]> {
  return yield* all<TokenRevocation>`
    select user_id as "userId", nullif(sign_in_id, '') as "signInId", expires_at as "expiresAt",
      first_generation as "firstGeneration", except_sign_in_id as "exceptSignInId"
    from token_cutoff where expires_at > ${now}`
}
