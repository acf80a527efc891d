// A request with a cookie finds its session and the inbox version in one statement.

import { record } from '../audit/audit.store.ts'
import type { SeenDevice } from '../guessing/device-tokens.ts'
import type { ProvedFactor } from '../http/operation.ts'
import { userBytes } from '../inbox/user-key.ts'
import type { Audited } from '../store/events.ts'
import {
  all,
  exists,
  get,
  inList,
  lock,
  type Read,
  run,
  send,
  signal,
  type Write,
} from '../store/statements.ts'
import type { ReadForms } from '../store/store.ts'
import { endSubscriptions, revoke } from '../tokens/tokens.store.ts'
import { lockUsers } from '../users/users.store.ts'

/** A look-up under the user touches only that user's rows. */
export type SessionKey = { userId: string; familyHash: string; secretHash: string }

export type LiveSession = {
  userId: string
  username: string | null
  signInId: string
  confirmedAt: number
  createdAt: number
  lastSeenAt: number
  inboxVersion: number
  /** Null if the present cookie was presented, not an older one. */
  newerHash: string | null
  /** Null for the first secret. */
  rotatedAt: number | null
  /** Null until the present secret is used. */
  secretUsedAt: number | null
  factor: ProvedFactor | undefined
}

type SessionRow = [
  string,
  number,
  number,
  string,
  number,
  number,
  string | null,
  number | null,
  number | null,
  ProvedFactor | null,
]

function liveSessionOf(userId: string, row: SessionRow): LiveSession {
  const [
    username,
    createdAt,
    lastSeenAt,
    signInId,
    confirmedAt,
    inboxVersion,
    newerHash,
    rotatedAt,
    secretUsedAt,
    factor,
  ] = row
  return {
    userId,
    username: username || null,
    createdAt,
    lastSeenAt,
    signInId,
    confirmedAt,
    inboxVersion,
    newerHash,
    rotatedAt,
    secretUsedAt,
    factor: factor ?? undefined,
  }
}

const sessionText = (secret: string, inboxUser: string, user: string, family: string) => `
  select s.username, s.created_at, s.last_seen_at, s.sign_in_id, coalesce(s.confirmed_at, s.created_at),
    coalesce(i.version, 0), case when s.secret_hash <> ${secret} then s.secret_hash end, s.rotated_at, s.secret_used_at, s.factor
  from session s left join inbox i on i.user_id = ${inboxUser}
  where s.user_id = ${user} and s.family_hash = ${family}`

export const sessionWithInbox = sessionText('?', '?', '?', '?')

const onPostgres = sessionText('$3', '$1', '$1', '$2')

/**
 * Finds a session by its present or an older cookie; the statement is the same for wrong ones. A
 * disabled user has none. The caller checks the expiry.
 */
export const findSession: ReadForms<SessionKey, LiveSession | undefined> = {
  name: 'findSession',
  async sqlite(reader, key) {
    const { userId, familyHash, secretHash } = key
    const values = () => [secretHash, userBytes(userId), userId, familyHash]
    const row = reader.kept<SessionRow>(key, sessionWithInbox, values)
    return row && liveSessionOf(userId, row)
  },
  async postgres(db, { userId, familyHash, secretHash }) {
    const row = await db.one('session', onPostgres, [userId, familyHash, secretHash])
    return row && liveSessionOf(userId, row as unknown as SessionRow)
  },
}

/** A session after `lastSeenUntil` is from before the clock was set back. */
export type LiveBounds = { createdAfter: number; lastSeenAfter: number; lastSeenUntil: number }

type SignIn = Pick<LiveSession, 'createdAt' | 'lastSeenAt' | 'signInId'>
/** A token never outlives its session. */
type SessionSignIn = SignIn & { credentialGeneration: number; signInGeneration: number }

/** The session may have expired. `hadTokens`: they were revoked with it. */
export type EndedSession = { userId: string; signInId: string; hadTokens: boolean }

export type NewSession = SessionKey &
  Audited & {
    at: number
    signInId: string
    checkedGeneration: number
    device: string | null
    address: string | null
    replaces: readonly SessionKey[]
    /** Without it, any number. */
    maxSessions?: number | undefined
    from?: SeenDevice | undefined
    factor?: ProvedFactor | undefined
  }

type AddedSession = { revoked: EndedSession[]; device?: Familiarity }

/**
 * In one step, ends those in `replaces` and the oldest beyond `maxSessions`, with their tokens, and
 * notes the device `from`. Returns 'refused', and changes nothing, for an absent or disabled user,
 * or another credential generation. Sign-ins of one user take turns, so each counts the other.
 */
export function* addSession(session: NewSession): Write<AddedSession | 'refused'> {
  const { userId, familyHash, secretHash, at, from } = session
  const deviceGeneration = from?.deviceGeneration ?? null
  yield* lockUsers()
  const user = yield* lock<{ username: string }>`
    select coalesce(username, '') as username from "user"
    where id = ${userId} and disabled_at is null and credential_generation = ${session.checkedGeneration}
      and device_generation = coalesce(${deviceGeneration}, device_generation)`
  if (user === undefined) return 'refused'
  yield* send`
    insert into session (user_id, family_hash, secret_hash, username, created_at, last_seen_at, sign_in_id, device, address, has_tokens,
      factor)
    values (${userId}, ${familyHash}, ${secretHash}, ${user.username}, ${at}, ${at}, ${session.signInId}, ${session.device},
      ${session.address}, 0, ${session.factor ?? null})`
  yield* keepSubscriptions(session)
  const ended = yield* endSessions({ keys: session.replaces, at })
  ended.push(...(yield* endSessions({ keys: yield* surplusOf(session), at })))
  yield* record(session.audit)
  const revoked = ended.filter(({ hadTokens }) => hadTokens)
  return { revoked, ...(from && { device: yield* note({ userId, device: from, at }) }) }
}

/** A new sign-in in the same browser keeps its push subscription. */
function* keepSubscriptions({ userId, signInId, replaces, factor }: NewSession): Write<void> {
  const families = replaces
    .filter((one) => one.userId === userId)
    .map(({ familyHash }) => familyHash)
  if (families.length === 0) return
  const before = yield* all<{ signInId: string }>`
    select sign_in_id as "signInId" from session where user_id = ${userId} and family_hash ${inList(families)}`
  yield* send`
    update push_subscription set sign_in_id = ${signInId}, factor = ${factor ?? null}
    where owner_id = ${userId} and sign_in_id ${inList(before.map((one) => one.signInId))}`
}

function* surplusOf({ userId, familyHash, maxSessions }: NewSession): Read<SessionKey[]> {
  if (maxSessions === undefined) return []
  return yield* all<SessionKey>`
    select user_id as "userId", family_hash as "familyHash", secret_hash as "secretHash" from session
    where user_id = ${userId} and family_hash <> ${familyHash}
    order by created_at desc, family_hash limit 1000 offset ${maxSessions - 1}`
}

/** Also notes the present secret's first use. Never revives an ended session. */
export function* touchSession({
  userId,
  familyHash,
  secretHash,
  at,
}: SessionKey & { at: number }): Write<void> {
  yield* send`
    update session set last_seen_at = case when last_seen_at < ${at} then ${at} else last_seen_at end,
      secret_used_at = coalesce(secret_used_at, ${at})
    where user_id = ${userId} and family_hash = ${familyHash} and secret_hash = ${secretHash}`
}

/** The session then has tokens, which end with it. */
export function* signInOfSession({
  userId,
  familyHash,
  secretHash,
}: SessionKey): Write<SessionSignIn | undefined> {
  yield* send`
    update session set has_tokens = 1
    where user_id = ${userId} and family_hash = ${familyHash} and secret_hash = ${secretHash} and has_tokens = 0`
  return yield* get<SessionSignIn>`
    select s.sign_in_id as "signInId", u.credential_generation as "credentialGeneration", s.generation as "signInGeneration",
      s.created_at as "createdAt", s.last_seen_at as "lastSeenAt"
    from session s join "user" u on u.id = s.user_id
    where s.user_id = ${userId} and s.family_hash = ${familyHash} and s.secret_hash = ${secretHash}`
}

type EndSessions = { keys: readonly SessionKey[]; at: number; live?: LiveBounds } & Audited

/**
 * Ends sessions with their tokens and returns each once. Writes nothing if there is none. Records a
 * key's audit entry if the session was live.
 */
export function* endSessions({ keys, audit, live, at }: EndSessions): Write<EndedSession[]> {
  const ended: EndedSession[] = []
  for (const [n, { userId, familyHash, secretHash }] of keys.entries()) {
    const session = yield* get<SignIn & { username: string | null; hasTokens: number }>`
      delete from session where user_id = ${userId} and family_hash = ${familyHash} and secret_hash = ${secretHash}
      returning nullif(username, '') as username, created_at as "createdAt", last_seen_at as "lastSeenAt",
        sign_in_id as "signInId", has_tokens as "hasTokens"`
    if (session === undefined) continue
    yield* signal({ about: 'session', userId })
    const { username, signInId } = session
    const hadTokens = session.hasTokens === 1
    if (hadTokens) yield* revoke({ userId, signInId, at })
    else yield* endSubscriptions(userId, signInId)
    ended.push({ userId, signInId, hadTokens })
    const entry = audit?.[n]
    if (entry !== undefined && isLive(session, live))
      yield* record([{ ...entry, username, signInId }])
  }
  return ended
}

function isLive({ createdAt, lastSeenAt }: SignIn, live: LiveBounds | undefined): boolean {
  if (live === undefined) return true
  return (
    createdAt > live.createdAfter &&
    lastSeenAt > live.lastSeenAfter &&
    lastSeenAt <= live.lastSeenUntil
  )
}

/** Removes at most 1,000. Returns how many. */
export function* removeStaleSessions({
  createdAfter,
  lastSeenAfter,
  lastSeenUntil,
}: LiveBounds): Write<number> {
  return yield* run`
    delete from session where (user_id, family_hash) in (
      select user_id, family_hash from session
      where created_at <= ${createdAfter} or last_seen_at <= ${lastSeenAfter} or last_seen_at > ${lastSeenUntil}
      limit 1000)`
}

/** 'first': the user had no known device. 'new': an unknown one, not kept by this call. */
export type Familiarity = 'first' | 'known' | 'new'

export type Note = { userId: string; device: SeenDevice; at: number }

/** The caller has locked the user. */
export function* note({ userId, device, at }: Note): Write<Familiarity> {
  const { label, network, isKnown, keep } = device
  const changed = yield* run`
    update known_device set last_seen_at = case when last_seen_at < ${at} then ${at} else last_seen_at end
    where user_id = ${userId} and label = ${label} and network = ${network}`
  if (changed > 0) return 'known'
  const isFirst = !(yield* exists`select 1 from known_device where user_id = ${userId} limit 1`)
  if (!isFirst && !isKnown) return 'new'
  yield* send`
    insert into known_device (user_id, label, network, first_seen_at, last_seen_at)
    values (${userId}, ${label}, ${network}, ${at}, ${at})`
  yield* send`
    delete from known_device where user_id = ${userId} and (label, network) in (
      select label, network from known_device where user_id = ${userId}
      order by last_seen_at desc, first_seen_at desc, label, network limit 1000 offset ${keep})`
  return isKnown ? 'known' : 'first'
}
