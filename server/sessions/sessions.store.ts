// Sessions, and the known devices of users. Each request with a cookie finds its session and the inbox version in one statement.
import type { Audited } from '../store/events.ts'
import {
  all,
  exists,
  get,
  lock,
  lockUsers,
  type Read,
  record,
  run,
  send,
  signal,
  userBytes,
  type Write,
} from '../store/statements.ts'
import type { ReadForms } from '../store/store.ts'
import { revoke } from '../tokens/tokens.store.ts'

/**
 * A session is stored under its user, so that a look-up touches only rows of that user. `familyHash`: of the half of the cookie that stays
 * the same, by which older cookies are found, too. `secretHash`: of the whole cookie.
 */
export type SessionKey = { userId: string; familyHash: string; secretHash: string }

export type LiveSession = {
  userId: string
  username: string | null
  /** Names the sign-in in lists, in tokens and in the audit log. */
  signInId: string
  /** When the user last proved a password or a factor. */
  confirmedAt: number
  createdAt: number
  lastSeenAt: number
  /** The version of the user's inbox as the same read saw it. */
  inboxVersion: number
  /** The hash of the present cookie, if an older one of the sign-in was presented; null if it was the present one. */
  newerHash: string | null
  /** When the present secret took the place of the one before it; null for the first one. */
  rotatedAt: number | null
  /** The first use of the present secret; null before it. */
  secretUsedAt: number | null
}

/** `liveSessionOf` names the values. */
type SessionRow = [string, number, number, string, number, number, string | null, number | null, number | null]

function liveSessionOf(userId: string, row: SessionRow): LiveSession {
  const [username, createdAt, lastSeenAt, signInId, confirmedAt, inboxVersion, newerHash, rotatedAt, secretUsedAt] = row
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
  }
}

const sessionText = (secret: string, inboxUser: string, user: string, family: string) => `
  select s.username, s.created_at, s.last_seen_at, s.sign_in_id, coalesce(s.confirmed_at, s.created_at),
    coalesce(i.version, 0), case when s.secret_hash <> ${secret} then s.secret_hash end, s.rotated_at, s.secret_used_at
  from session s left join inbox i on i.user_id = ${inboxUser}
  where s.user_id = ${user} and s.family_hash = ${family}`

export const sessionWithInbox = sessionText('?', '?', '?', '?')

const onPostgres = sessionText('$3', '$1', '$1', '$2')

/**
 * Finds a session whose user is not disabled, by its present cookie or an older one: the same statement for right and wrong ones, whose
 * age does not matter. The caller checks if it has expired.
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

/** Outside of these bounds a session had expired, or, after `lastSeenUntil`, is from before the clock was set back. */
export type LiveBounds = { createdAfter: number; lastSeenAfter: number; lastSeenUntil: number }

type SignIn = Pick<LiveSession, 'createdAt' | 'lastSeenAt' | 'signInId'>
/** The sign-in of a session, whose tokens never outlive the session. */
type SessionSignIn = SignIn & { credentialGeneration: number; signInGeneration: number }

/** The sign-in of a session that ended; it may have expired before. `hadTokens`: they were revoked with it. */
export type EndedSession = { userId: string; signInId: string; hadTokens: boolean }

export type NewSession = SessionKey &
  Audited & {
    at: number
    signInId: string
    /** Read with the credentials that were checked. */
    checkedGeneration: number
    /** Such as "Firefox on Linux"; null if unknown. */
    device: string | null
    address: string | null
    replaces: readonly SessionKey[]
    /** How many sessions the user may have. Default: any number. */
    maxSessions?: number | undefined
    /** The device to note, as for `noteDevice`. */
    from?: SeenDevice | undefined
  }

/** `revoked`: the sign-ins with tokens that ended. */
type AddedSession = { revoked: EndedSession[]; device?: Familiarity }

/**
 * Adds a session, ends those in `replaces` and the oldest beyond `maxSessions`, with their tokens, and notes the device `from`, in
 * one step. Returns 'refused', and changes nothing, if the user is absent or disabled, or has another credential generation than
 * the one that was checked. Sign-ins of one user take turns: otherwise each of two could count without the other.
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
    insert into session (user_id, family_hash, secret_hash, username, created_at, last_seen_at, sign_in_id, device, address, has_tokens)
    values (${userId}, ${familyHash}, ${secretHash}, ${user.username}, ${at}, ${at}, ${session.signInId}, ${session.device},
      ${session.address}, 0)`
  const ended = yield* endSessions({ keys: session.replaces, at })
  ended.push(...(yield* endSessions({ keys: yield* surplusOf(session), at })))
  yield* record(session.audit)
  const revoked = ended.filter(({ hadTokens }) => hadTokens)
  return { revoked, ...(from && { device: yield* note({ userId, device: from, at }) }) }
}

/** The oldest sessions beyond the limit; never the new one, whatever the clock says. */
function* surplusOf({ userId, familyHash, maxSessions }: NewSession): Read<SessionKey[]> {
  if (maxSessions === undefined) return []
  return yield* all<SessionKey>`
    select user_id as "userId", family_hash as "familyHash", secret_hash as "secretHash" from session
    where user_id = ${userId} and family_hash <> ${familyHash}
    order by created_at desc, family_hash limit 1000 offset ${maxSessions - 1}`
}

/** Records a use of a session, and the first use of its present secret. An ended session is never revived. */
export function* touchSession({ userId, familyHash, secretHash, at }: SessionKey & { at: number }): Write<void> {
  yield* send`
    update session set last_seen_at = case when last_seen_at < ${at} then ${at} else last_seen_at end,
      secret_used_at = coalesce(secret_used_at, ${at})
    where user_id = ${userId} and family_hash = ${familyHash} and secret_hash = ${secretHash}`
}

/** The sign-in of a session with its generation and that of its user, for a token. From then on the session has tokens, which end with it. */
export function* signInOfSession({ userId, familyHash, secretHash }: SessionKey): Write<SessionSignIn | undefined> {
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
 * Ends sessions with their tokens in one step and returns those that it ended, each once. If there is none to end, nothing is
 * written. The audit entries are in the order of the keys; each is recorded, with the sign-in, if its session was live.
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
    ended.push({ userId, signInId, hadTokens })
    const entry = audit?.[n]
    if (entry !== undefined && isLive(session, live)) yield* record([{ ...entry, username, signInId }])
  }
  return ended
}

/** Whether a session had not expired when it ended. Without bounds every one counts as live. */
function isLive({ createdAt, lastSeenAt }: SignIn, live: LiveBounds | undefined): boolean {
  if (live === undefined) return true
  return createdAt > live.createdAfter && lastSeenAt > live.lastSeenAfter && lastSeenAt <= live.lastSeenUntil
}

/** Removes at most 1,000 sessions that had expired. Returns how many it removed. */
export function* removeStaleSessions({ createdAfter, lastSeenAfter, lastSeenUntil }: LiveBounds): Write<number> {
  return yield* run`
    delete from session where (user_id, family_hash) in (
      select user_id, family_hash from session
      where created_at <= ${createdAfter} or last_seen_at <= ${lastSeenAfter} or last_seen_at > ${lastSeenUntil}
      limit 1000)`
}

/**
 * `isKnown`: the device proved by other means that it is known. `keep`: how many are kept for a user. `deviceGeneration`: of the
 * user when the proof was checked; if it was raised since, the sign-in is refused.
 */
export type SeenDevice = { label: string; network: string; isKnown: boolean; keep: number; deviceGeneration?: number }

/** 'first': the user has no known device, and this is now the first. 'new': it is not known, and is not kept by this call. */
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
