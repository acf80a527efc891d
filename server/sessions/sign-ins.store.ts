import { isRecorded, type OfSignIn, record } from '../audit/audit.store.ts'
import { firstIdAt } from '../basics/ids.ts'
import type { SeenDevice } from '../guessing/device-tokens.ts'
import type { AuditEntry, Audited } from '../store/events.ts'
import { all, get, lock, type Read, send, type Write } from '../store/statements.ts'
import { endProofs, issuedSignIns, revoke, type UserChange } from '../tokens/tokens.store.ts'
import { isOutdated, type PresentedProof } from '../users/access/rotation.store.ts'
import { lockUser, lockUsers } from '../users/users.store.ts'
import { type Familiarity, type LiveBounds, type Note, note } from './sessions.store.ts'

/** Sessions within the bounds, and stateless sign-ins that can be renewed. */
export type AliveSignIns = { sessions: LiveBounds; tokensSince: number }

/** `after`: the last id of the page before. `ownSignInId` comes first. */
type Query = {
  userId: string
  ownSignInId: string
  alive: AliveSignIns
  after?: string | undefined
  limit: number
}

export type ListedSignIn = {
  signInId: string
  variant: 'stateful' | 'stateless'
  createdAt: number
  /** Of a stateless sign-in, the last audit entry's time. */
  lastSeenAt: number
  device: string | null
  /** Only a stateless sign-in has it. */
  userAgent: string | null
  address: string | null
}

/** Issued tokens end too, by a higher generation. Changes nothing if the `proof` is outdated. */
export function* endOtherSignIns(
  end: UserChange & { proof: PresentedProof },
): Write<'done' | 'outdated'> {
  const { userId, proof } = end
  yield* lockUser(userId)
  if (yield* isOutdated(proof)) return 'outdated'
  yield* endProofs({ ...end, exceptSignInId: proof.signInId })
  return 'done'
}

/** The own one first, then newest first. */
export function* listSignIns(query: Query): Read<ListedSignIn[]> {
  const { userId, ownSignInId, alive, after, limit } = query
  const listed = yield* aliveSignIns(userId, alive)
  const rank = ({ signInId }: ListedSignIn) => (signInId === ownSignInId ? 'own' : signInId)
  return listed
    .filter(({ signInId }) => after === undefined || (signInId < after && signInId !== ownSignInId))
    .toSorted((one, other) => (rank(one) < rank(other) ? 1 : -1))
    .slice(0, limit)
}

function* aliveSignIns(
  userId: string,
  { sessions, tokensSince }: AliveSignIns,
): Read<ListedSignIn[]> {
  return [...(yield* liveSessions(userId, sessions)), ...(yield* tokenSignIns(userId, tokensSince))]
}

function* liveSessions(userId: string, bounds: LiveBounds): Read<ListedSignIn[]> {
  const { createdAfter, lastSeenAfter, lastSeenUntil } = bounds
  return yield* all<ListedSignIn>`
    select sign_in_id as "signInId", 'stateful' as variant, created_at as "createdAt", last_seen_at as "lastSeenAt",
      device, null as "userAgent", address
    from session
    where user_id = ${userId} and created_at > ${createdAfter} and last_seen_at > ${lastSeenAfter}
      and last_seen_at <= ${lastSeenUntil}`
}

type TokenSignIn = Omit<ListedSignIn, 'variant' | 'device'> & { detail: string | null }

/** The audit log has their start but no end, and no revocation names them. */
function* tokenSignIns(userId: string, since: number): Read<ListedSignIn[]> {
  const user = yield* get<{ generation: number; spared: string | null }>`
    select credential_generation as generation,
      (select except_sign_in_id from revocation where user_id = ${userId} and sign_in_id = '') as spared
    from "user" where id = ${userId}`
  const begun = yield* all<TokenSignIn>`
    select a.sign_in_id as "signInId", min(a.at) filter (where a.event = 'sign-in') as "createdAt",
      max(a.at) as "lastSeenAt", max(a.user_agent) filter (where a.event = 'sign-in') as "userAgent",
      max(a.address) filter (where a.event = 'sign-in') as address, max(a.detail) filter (where a.event = 'sign-in') as detail
    from audit a
    where a.user_id = ${userId} and a.id >= ${firstIdAt(since)} and a.sign_in_id is not null
      and not exists (select 1 from revocation c where c.user_id = ${userId} and c.sign_in_id = a.sign_in_id)
    group by a.sign_in_id
    having max(case when a.event in ('sign-out', 'session-ended', 'sign-in-disowned') then 1 else 0 end) = 0`
  return begun.flatMap(({ detail, ...signIn }) => {
    const { variant, generation } = JSON.parse(detail ?? '{}') as {
      variant?: string
      generation?: number
    }
    const isValid = generation === user?.generation || signIn.signInId === user?.spared
    return variant === 'stateless' && isValid ? [{ ...signIn, variant, device: null }] : []
  })
}

type EndSignIn = UserChange & {
  signInId: string
  alive: AliveSignIns
  isOwn: boolean
  disowned?: SeenDevice
}

/**
 * Ends a live sign-in with its tokens, and returns its variant. `isOwn`: the caller's stateless
 * one. With `disowned` the password counts as reported, the device generation rises, and only that
 * device stays known. Unknown, ended or another user's: 'absent', nothing changed. But one in the
 * audit log can be disowned: its client knows the password.
 */
export function* endSignIn(end: EndSignIn): Write<'stateful' | 'stateless' | 'absent'> {
  const { userId, signInId, alive, at, disowned } = end
  if (disowned !== undefined) yield* lockUser(userId)
  const found = (yield* aliveSignIns(userId, alive)).find((one) => one.signInId === signInId)
  const isAlive = found !== undefined || end.isOwn
  if (
    !isAlive &&
    !(disowned !== undefined && (yield* isRecorded({ userId, signInId, event: 'sign-in' })))
  )
    return 'absent'
  yield* revoke({ userId, signInId, at })
  if (disowned !== undefined) {
    yield* send`
      update "user" set device_generation = device_generation + 1, password_reported_at = ${at} where id = ${userId}`
    yield* send`delete from known_device where user_id = ${userId}`
    yield* note({ userId, at, device: disowned })
  }
  yield* record(end.audit)
  return found?.variant ?? 'stateless'
}

/**
 * Keeps the device unless it is 'new': at most `keep`, the last seen. Of simultaneous first calls,
 * one is 'first'. Returns 'absent' without a user of this device generation.
 */
export function* noteDevice({ audit, ...seen }: Note & Audited): Write<Familiarity | 'absent'> {
  const { userId, device } = seen
  const deviceGeneration = device.deviceGeneration ?? null
  yield* lockUsers()
  const user = yield* lock`
    select 1 from "user" where id = ${userId} and device_generation = coalesce(${deviceGeneration}, device_generation)`
  if (user === undefined) return 'absent'
  yield* record(audit)
  return yield* note(seen)
}

/** Raises the issued generation and revokes lower ones. */
export function* revokeIssuedTokens(change: UserChange): Write<'done' | 'absent'> {
  const { userId, at } = change
  yield* lockUsers()
  const user = yield* get<{ generation: number }>`
    update "user" set issued_generation = issued_generation + 1 where id = ${userId} returning issued_generation as generation`
  if (user === undefined) return 'absent'
  const { generation: firstGeneration } = user
  yield* revoke({ userId, signInId: issuedSignIns, at, firstGeneration })
  yield* record(change.audit)
  return 'done'
}

/** Records it unless the log has such an entry for the sign-in. */
export function* recordOnce(entry: AuditEntry & OfSignIn): Write<void> {
  if ((yield* lockUser(entry.userId)) && !(yield* isRecorded(entry))) yield* record([entry])
}
