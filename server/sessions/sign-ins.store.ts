// Lists and ends the sign-ins of a user, and notes the devices that users sign in from.
import { isRecorded } from '../audit/audit.store.ts'
import { firstIdAt } from '../basics/ids.ts'
import type { Audited } from '../store/events.ts'
import { all, get, lock, lockUser, lockUsers, type Read, record, send, type Write } from '../store/statements.ts'
import { isOutdated, type PresentedProof } from '../tokens/rotation.store.ts'
import { endProofs, revoke, type UserChange } from '../tokens/tokens.store.ts'
import { type Familiarity, type LiveBounds, type Note, note, type SeenDevice } from './sessions.store.ts'

/** Which sign-ins are alive: sessions within the bounds, and stateless sign-ins whose tokens can still be renewed. */
export type AliveSignIns = { sessions: LiveBounds; tokensSince: number }

/** `after`: the id of the last sign-in of the page before. `ownSignInId` comes first on the first page, and on no other. */
type Query = { userId: string; ownSignInId: string; alive: AliveSignIns; after?: string | undefined; limit: number }

export type ListedSignIn = {
  signInId: string
  variant: 'stateful' | 'stateless'
  createdAt: number
  /** That of a stateless sign-in is the time of its last entry in the audit log. */
  lastSeenAt: number
  /** The label of a session's device, such as "Firefox on Linux". */
  device: string | null
  /** Only a stateless sign-in has it. */
  userAgent: string | null
  address: string | null
}

/** Ends every sign-in of a user but one, issued tokens included, by a higher generation. Changes nothing if the `proof` of that is outdated. */
export function* endOtherSignIns(end: UserChange & { proof: PresentedProof }): Write<'done' | 'outdated'> {
  const { userId, proof } = end
  yield* lockUser(userId)
  if (yield* isOutdated(proof)) return 'outdated'
  yield* endProofs({ ...end, exceptSignInId: proof.signInId })
  return 'done'
}

/** Lists the sign-ins of a user that are alive: the own one first, then newest first. */
export function* listSignIns(query: Query): Read<ListedSignIn[]> {
  const { userId, ownSignInId, alive, after, limit } = query
  const listed = yield* aliveSignIns(userId, alive)
  const rank = ({ signInId }: ListedSignIn) => (signInId === ownSignInId ? 'own' : signInId)
  return listed
    .filter(({ signInId }) => after === undefined || (signInId < after && signInId !== ownSignInId))
    .toSorted((one, other) => (rank(one) < rank(other) ? 1 : -1))
    .slice(0, limit)
}

function* aliveSignIns(userId: string, { sessions, tokensSince }: AliveSignIns): Read<ListedSignIn[]> {
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

/** The stateless sign-ins that are alive: the audit log has their start and no end, and no revocation names them, by id or generation. */
function* tokenSignIns(userId: string, since: number): Read<ListedSignIn[]> {
  const user = yield* get<{ generation: number; spared: string | null }>`
    select credential_generation as generation,
      (select except_sign_in_id from token_cutoff where user_id = ${userId} and sign_in_id = '') as spared
    from "user" where id = ${userId}`
  const begun = yield* all<TokenSignIn>`
    select a.sign_in_id as "signInId", min(a.at) filter (where a.event = 'sign-in') as "createdAt",
      max(a.at) as "lastSeenAt", max(a.user_agent) filter (where a.event = 'sign-in') as "userAgent",
      max(a.address) filter (where a.event = 'sign-in') as address, max(a.detail) filter (where a.event = 'sign-in') as detail
    from audit a
    where a.user_id = ${userId} and a.id >= ${firstIdAt(since)} and a.sign_in_id is not null
      and not exists (select 1 from token_cutoff c where c.user_id = ${userId} and c.sign_in_id = a.sign_in_id)
    group by a.sign_in_id
    having max(case when a.event in ('sign-out', 'session-ended', 'sign-in-disowned') then 1 else 0 end) = 0`
  return begun.flatMap(({ detail, ...signIn }) => {
    const { variant, generation } = JSON.parse(detail ?? '{}') as { variant?: string; generation?: number }
    const isValid = generation === user?.generation || signIn.signInId === user?.spared
    return variant === 'stateless' && isValid ? [{ ...signIn, variant, device: null }] : []
  })
}

type EndSignIn = UserChange & { signInId: string; alive: AliveSignIns; isOwn: boolean; disowned?: SeenDevice }

/**
 * Ends one sign-in that is alive, with its tokens, and returns its variant. With `isOwn` it is the caller's stateless sign-in, which
 * is alive. With `disowned` the user did not sign in there: in the same step the password counts as reported, the device generation
 * rises, and only the device `disowned` stays known. A sign-in that is unknown, has ended or is another user's is absent, and nothing
 * changes; but one that has ended can be disowned as long as the audit log has it: who was there knows the password.
 */
export function* endSignIn(end: EndSignIn): Write<'stateful' | 'stateless' | 'absent'> {
  const { userId, signInId, alive, at, disowned } = end
  if (disowned !== undefined) yield* lockUser(userId)
  const found = (yield* aliveSignIns(userId, alive)).find((one) => one.signInId === signInId)
  const isAlive = found !== undefined || end.isOwn
  // A sign-in that has ended can still be disowned.
  if (!isAlive && !(disowned !== undefined && (yield* isRecorded({ userId, signInId, event: 'sign-in' }))))
    return 'absent'
  // Ends the session too.
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
 * Says whether a user has signed in from a device before, and keeps it in the same step unless it is 'new'. Of the first
 * calls for a user at the same time, one is 'first'. At most `keep` devices are kept for a user, those that were seen last.
 * Changes nothing and returns 'absent' without such a user of this device generation.
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
