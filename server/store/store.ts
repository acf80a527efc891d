// What Carillon stores, as the rest of the program sees it: one interface per noun, and `Store` is all of them together.
// Each comment is a promise, and the contract (contract/) tests every engine against it in the same words.
//
// For every method: times are milliseconds since 1970 UTC. Absence is returned (`undefined`, 'absent'), never thrown.
// When a write resolves, it is on the disk. If the system fails (disk full, database server unreachable), the call throws
// CarillonError UNAVAILABLE, and nothing of the call was stored unless the message says that the outcome is unknown.

import type { Audit, AuditEntry, Audited } from '../audit/audit.promise.ts'
import type { Deliveries } from '../delivery/delivery.promise.ts'
import type { Factors } from '../factors/factors.promise.ts'
import type { Guesses } from '../guessing/guesses.promise.ts'
import type { Links } from '../links/links.promise.ts'
import type { Producers } from '../producers/producers.promise.ts'
import type { ProviderAccounts } from '../providers/provider-accounts.promise.ts'
import type { SealedTexts } from '../sealing/sealed-texts.promise.ts'
import type { Excepted, Familiarity, LiveBounds, SeenDevice, SignIns } from '../sessions/sign-ins.promise.ts'
import type { SigningKeys } from '../tokens/signing-keys.promise.ts'
import type { Tokens } from '../tokens/tokens.promise.ts'
import type { User, UserChange } from '../users/user.promise.ts'

export type * from '../audit/audit.promise.ts'
export type * from '../delivery/delivery.promise.ts'
export type * from '../factors/factors.promise.ts'
export type * from '../guessing/guesses.promise.ts'
export type * from '../links/links.promise.ts'
export type * from '../producers/producers.promise.ts'
export type * from '../providers/provider-accounts.promise.ts'
export type * from '../sealing/sealed-texts.promise.ts'
export type * from '../sessions/sign-ins.promise.ts'
export type * from '../tokens/signing-keys.promise.ts'
export * from '../tokens/tokens.promise.ts'
export type * from '../users/user.promise.ts'

export type Store = Operations & Lifecycle
export type Operations = Users &
  Sessions &
  SignIns &
  Tokens &
  SigningKeys &
  SealedTexts &
  Producers &
  Inbox &
  Deliveries &
  Audit &
  Factors &
  ProviderAccounts &
  Links &
  Guesses
export type Input<Name extends keyof Operations> = Parameters<Operations[Name]>[0]

/** A user of no application if `application` is absent. Without `issuer`, the external id is a plain one. */
export type NewUser = Pick<User, 'id' | 'username' | 'displayName' | 'createdAt'> &
  Partial<Pick<User, 'application' | 'externalId' | 'issuer' | 'locale' | 'email' | 'emailVerifiedAt'>> & {
    passwordHash: string | null
  }
/**
 * An absent field keeps its value; null clears it. An address that another one replaces takes its proof with it. The time at which
 * an address was first verified stays.
 */
export type Profile = Partial<Pick<User, 'displayName' | 'locale' | 'email' | 'emailVerifiedAt'>>
export type Credentials = User & { username: string; passwordHash: string }
export type UserQuery = {
  after: string
  limit: number
  search?: string
  externalId?: string
  issuer?: string
  application?: string | undefined
}
/** `recorded`: its audit entry was recorded. */
export type PutUser = { user: User; created: boolean; recorded?: true }

export interface Users {
  /** Adds a user. If the username or the external id is taken, says so and changes nothing. */
  addUser(user: NewUser & Audited): Promise<'added' | 'username-taken' | 'external-id-taken'>
  /**
   * Creates each user whose external id is new for the application and issuer, and updates the others, all in one step. Returns them in the
   * same order, as they are afterwards. An external id that is named twice is one user: the later values count, and `created`
   * is true the first time only. Of calls at the same time, one creates the user.
   *
   * Each user may have an audit entry, with the id `newId` and the event of a creation. It is recorded if the user was created; if a
   * field of an existing user changed, it is recorded with that user's id and the event `user-changed`.
   */
  putUsers(put: {
    application?: string | undefined
    issuer: string
    at: number
    users: readonly ({ newId: string; externalId: string; entry?: AuditEntry } & Profile)[]
  }): Promise<PutUser[]>
  findUser(userId: string): Promise<User | undefined>
  /** Finds a user by prepared username. */
  findUserByUsername(username: string): Promise<User | undefined>
  /** Finds a user by external id, compared byte by byte. `issuer` is '' for a plain id; without `application`, the id is one of no application. */
  findUserByExternalId(wanted: {
    application?: string | undefined
    issuer: string
    externalId: string
  }): Promise<User | undefined>
  /**
   * Finds the users with a username and an e-mail address, at most `limit` of them: first those of no application, ordered by id, so that
   * no application crowds them out. Upper and lower case of ASCII letters are the same, and no other letters. With `canSignIn`, only those
   * who sign in by it: of no application, and the address is verified.
   */
  findUsersByEmail(wanted: { email: string; limit: number; canSignIn?: boolean }): Promise<User[]>
  /** Finds a user by prepared username who has a password, with the password hash and the credential generation that belongs to that hash. */
  findCredentials(username: string): Promise<Credentials | undefined>
  /**
   * Lists users ordered by id, which is the order of creation, at most `limit` of them, starting after the id `after`. With
   * `search`, only those whose username, display name, e-mail address or external id contains it; upper and lower case of ASCII
   * letters are the same. With `externalId`, only those with this external id; without `issuer`, of every issuer. With `application`,
   * only its users.
   */
  listUsers(query: UserQuery): Promise<User[]>
  /** Changes the fields that are given. A new username applies to the user's sessions in the same step. */
  updateUser(
    change: { userId: string; username?: string } & Profile & Audited,
  ): Promise<'done' | 'absent' | 'username-taken'>
  /**
   * Disables a user. In one step it raises the credential generation, ends every session, and revokes every token and link.
   * Repeating the call keeps the first `disabledAt`.
   */
  disableUser(change: UserChange): Promise<'done' | 'absent'>
  /** Enables a disabled user. The proofs that ended when the user was disabled stay ended. */
  enableUser(change: { userId: string } & Audited): Promise<'done' | 'absent'>
  /**
   * Erases a user. In one step it removes every row of the user (with sessions, inbox and revocations), and takes the user and the
   * notifications out of the outcomes of deliveries. It revokes every token by one row that names the user by `erasedKey` only. A
   * delivery at the same time is erased with the user, or does not find the user.
   */
  deleteUser(change: UserChange): Promise<'done' | 'absent'>
  /**
   * Sets a password and enables the user. In one step it raises the credential generation, voids every link of the user, clears
   * `passwordReportedAt`, ends every session and revokes every token, except those of the sign-in `exceptSignInId`. If that
   * sign-in has ended, it changes nothing and returns 'refused'.
   */
  setPassword(change: UserChange & Excepted & { passwordHash: string }): Promise<'done' | 'absent' | 'refused'>
  /**
   * Replaces a password hash by another one of the same password, and revokes nothing. If the user no longer has the hash that
   * was checked, it changes nothing and returns 'refused'.
   */
  rehashPassword(change: {
    userId: string
    checkedPasswordHash: string
    passwordHash: string
  }): Promise<'done' | 'refused'>
}

/** A session is stored under its user, so that a look-up touches only rows of that user. */
export type SessionKey = { userId: string; secretHash: string }

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
}

/** Whether a session had not expired when it ended. Without bounds every one counts as live. */
export function isLive({ createdAt, lastSeenAt }: EndedSession, live: LiveBounds | undefined): boolean {
  if (live === undefined) return true
  return createdAt > live.createdAfter && lastSeenAt > live.lastSeenAfter && lastSeenAt <= live.lastSeenUntil
}

/** A session as it was when it ended. It may have expired before; the caller checks its age. */
export type EndedSession = Omit<LiveSession, 'inboxVersion' | 'confirmedAt'> & {
  /** If true, the tokens of its sign-in were revoked with it. */
  hadTokens: boolean
}
/** The sign-in of a session, whose tokens never outlive the session. */
export type SessionSignIn = Pick<LiveSession, 'createdAt' | 'lastSeenAt' | 'signInId'> & {
  credentialGeneration: number
}
/** A session that was found by a secret before its present one. `secretUsedAt`: the first use of the present one; null before it. */
export type RenewedSession = Pick<LiveSession, 'createdAt' | 'lastSeenAt' | 'signInId'> & {
  secretHash: string
  secretUsedAt: number | null
}
type End = { at: number; revocationExpiresAt: number }
export type NewSession = SessionKey &
  End &
  Audited & {
    signInId: string
    /** Read with the credentials that were checked. */
    checkedGeneration: number
    /** Such as "Firefox on Linux"; null if unknown. */
    device: string | null
    address: string | null
    replaces: readonly SessionKey[]
    /** How many sessions the user may have. Default: any number. */
    maxSessions?: number | undefined
    /** As of `noteDevice`. */
    from?: SeenDevice | undefined
  }
/** `revoked`: the sign-ins with tokens that ended. */
type AddedSession = { revoked: { userId: string; signInId: string }[]; device?: Familiarity }

export interface Sessions {
  /**
   * Adds a session and ends those in `replaces` with their tokens, in one step, and then the oldest of the user if there are more than
   * `maxSessions`. Returns the sign-ins of those that had tokens. With `from` it notes the device in the same step.
   * If the user is absent, is disabled or no longer has the credential generation that was checked, it changes nothing
   * and returns 'refused'.
   */
  addSession(session: NewSession): Promise<AddedSession | 'refused'>
  /** Finds a session whose user is not disabled. The caller checks if it has expired. */
  findSession(key: SessionKey): Promise<LiveSession | undefined>
  /** Records that the user of a session proved a password or a factor again. An ended session is never revived. */
  confirmSession(session: SessionKey & { at: number } & Audited): Promise<'done' | 'absent'>
  /**
   * Replaces the secret of a session; the last three before it are kept. The last use becomes `lastSeenAt`. Of calls with the same
   * secret at the same time, one succeeds.
   */
  renewSession(renewal: SessionKey & { newHash: string; lastSeenAt: number }): Promise<'done' | 'absent'>
  /** Finds a session by one of the three secrets before its present one or, if `signInId` is given, by its sign-in. */
  findRenewedSession(key: SessionKey & { signInId?: string | null }): Promise<RenewedSession | undefined>
  /**
   * Records that a session was used, and the first use of its present secret. It only updates an existing row: an ended session is
   * never revived.
   */
  touchSession(session: SessionKey & { at: number }): Promise<void>
  /**
   * Returns the sign-in of a session and the user's credential generation, as of the same moment, for a token. From then on the
   * session has tokens, which end with it.
   */
  signInOfSession(session: SessionKey): Promise<SessionSignIn | undefined>
  /**
   * Ends sessions with their tokens in one step and returns those that it ended, each once. An unknown or already ended
   * session is left out. If there is none to end, nothing is written. The audit entries are in the order of the keys; each is
   * recorded, with the sign-in, if its session was live.
   */
  endSessions(end: { keys: readonly SessionKey[]; live?: LiveBounds } & End & Audited): Promise<EndedSession[]>
  /**
   * Removes sessions that were created before `createdBefore`, last used before `lastSeenBefore`, or last used after
   * `lastSeenAfter` (then the clock was set back since).
   */
  removeStaleSessions(bounds: { createdBefore: number; lastSeenBefore: number; lastSeenAfter: number }): Promise<void>
}

/** Every change of an inbox updates this row first. The inbox of a user without any delivery equals `emptyInbox`. */
export type InboxState = {
  /** Raised by one with every change, in the order in which changes become visible. */
  version: number
  /** The lowest sequence number in use; 1 without notifications. */
  firstSeq: number
  /** The highest sequence number in use, and the last that was given. A notification that was sent again leaves a gap. */
  lastSeq: number
  total: number
  unread: number
  /** High-water mark: every notification up to this sequence number is read, except those that the user marked as unread since. */
  readThrough: number
  /** The version of the last read-all that was not undone. A notification that was marked as unread at an earlier version does not count. */
  readVersion: number
  /** How many notifications up to `readThrough` are unread. */
  markedUnread: number
  /** The version of the last undo; 0 without one. */
  resetVersion: number
  /** No read-all of a category covers a notification above this sequence number; 0 if there was none. */
  categoryThrough: number
}

export const emptyInbox: InboxState = {
  version: 0,
  firstSeq: 1,
  lastSeq: 0,
  total: 0,
  unread: 0,
  readThrough: 0,
  readVersion: 0,
  markedUnread: 0,
  resetVersion: 0,
  categoryThrough: 0,
}

/** Which notifications are listed: those with this status and, if `categories` is given, with one of them (each named once). */
export type Filter = { status: 'all' | 'unread' | 'read'; categories?: readonly string[] | undefined }
/** Which notifications of an inbox: a numbered page, or those before a sequence number. */
export type PageRequest = Filter & { limit: number } & ({ page: number } | { before: number })
/** `unlessVersion` is the inbox version of the page that the caller already has. */
export type PageQuery = PageRequest & { userId: string; unlessVersion?: number | undefined }

/** Notifications as JSON text (notification-json.ts), ready to send. */
export type Page = {
  inbox: InboxState
  /** How many notifications match the filter, on all pages. */
  total: number
  /** A JSON array, newest first. */
  items: string
  /** The `before` of the next page, or null if this page reaches the end. */
  next: number | null
}

export type Counts = { inbox: InboxState; categories: Record<string, { total: number; unread: number }> }

/**
 * `notification` is JSON text as of now, not as of `version`. 'replaced': a later delivery replaced its content; with `again` it
 * also has another place, and a client may not know it yet. 'read' or 'unread': what it is as of now.
 */
export type Change =
  | { version: number; type: 'created' | 'replaced' | 'read' | 'unread'; notification: string }
  | ({ version: number; type: 'read-all' } & ReadAll)
/** `throughId` is null if that notification has another sequence number since. With `categories` it covered only these. */
export type ReadAll = { throughSeq: number; throughId: string | null; at: string; categories?: readonly string[] }
export type ChangesQuery = { userId: string; version: number; limit: number; maxBehind?: number }
export type Changes = { inbox: InboxState; changes: Change[]; more: boolean }

export interface Inbox {
  readInbox(userId: string): Promise<InboxState>
  /**
   * Reads a page: newest first, in the order of sequence numbers. A page past the end is empty. A page by cursor costs the same
   * at any depth, however few notifications match; so does a numbered page of a list without a filter in which no sequence
   * number is missing. Another numbered page passes over the notifications above it. A list of unread notifications also
   * passes over those that a read-all of categories covers. Returns 'unchanged' if the inbox still has the version `unlessVersion`.
   */
  readPage(query: PageQuery): Promise<Page | 'unchanged'>
  /** Reads one notification of this user as JSON text; another user's notification is absent. */
  readNotification(owned: { userId: string; id: string }): Promise<string | undefined>
  readCounts(userId: string): Promise<Counts>
  /**
   * Reads what changed after a version, in order, at most `limit` changes; `more` says that further changes follow. Each
   * notification that arrived is listed once, at the version of its arrival, or as replaced at the version at which it was
   * sent again last; one that changed since is listed again, at its last change. Returns 'reset' if
   * the inbox never reached the version, is more than `maxBehind` changes ahead of it, or had a read-all undone since.
   */
  changesSince(query: ChangesQuery): Promise<Changes | 'reset'>
  /**
   * Marks one notification of this user as read. Repeating the call changes nothing and keeps the first `readAt`. After a
   * read-all the call says that the notification is to stay read: an undo of the read-all leaves it read.
   */
  markRead(change: { userId: string; id: string; at: number }): Promise<'done' | 'absent'>
  /**
   * Marks as read every notification that has arrived, or only those up to and including the sequence number of the notification
   * `throughId`, or up to and including `throughSeq`. One that arrives during the call stays unread. The cost does not depend on
   * how many were unread; it updates one row per category. Only if it ends before notifications that an earlier call covered and
   * that were marked as unread since, it also updates one row for each of these, and they stay unread. With `categories` (distinct,
   * at least one) it covers only what has one of these now, and adds one row for each of them. A notification that moves to another
   * category keeps its read state; if a read-all of a category ever reached as far as its sequence number, it also leaves the undo.
   */
  markAllRead(change: {
    userId: string
    throughId: string | null
    throughSeq?: number
    categories?: readonly string[] | undefined
    at: number
  }): Promise<'done' | 'absent'>
  /**
   * Marks one notification of this user as unread, until it is marked as read or the next read-all covers it. Repeating the
   * call changes nothing.
   */
  markUnread(change: { userId: string; id: string }): Promise<'done' | 'absent'>
  /**
   * Takes back the last read-all that changed something, until ten minutes after it: what it made read is unread again, except
   * what was marked as read or unread or sent again since. What arrived since stays as it is. Repeating the call changes nothing.
   * Returns 'nothing' if there was no read-all, or the last one is too old. The cost does not depend on how many were made read.
   */
  undoReadAll(change: { userId: string; at: number }): Promise<'done' | 'nothing'>
}

/** A hint that something changed. It carries no data: a listener that needs the new state reads it. */
export type ChangeSignal =
  | { about: 'inbox' | 'session'; userId: string }
  | { about: 'token-revocation' }
  /** A command recorded what an operator did. */
  | { about: 'audit' }
  | { about: 'signing-key' }
  | { about: 'anything' }

export interface Lifecycle {
  /**
   * Names this history of changes. It differs after a restore, a move or a failover, because another change may then reach
   * the same version. It may change while the store is open; the change signal 'anything' follows.
   */
  readonly history: string
  /** The shared clock of all processes, in milliseconds since 1970. An engine without one uses this machine's clock. */
  readonly clock?: () => number
  /** Calls `listener` after every commit, of any process, that changed something the listener may need to read again. */
  onChange(listener: (signal: ChangeSignal) => void): () => void
  /** Resolves with the reason when the store cannot work any more and the process has to be restarted. */
  readonly failed: Promise<Error>
  /** Throws UNAVAILABLE if the store cannot read or write now. */
  check(): Promise<void>
  /** Completes the writes in progress and closes the store. */
  close(): Promise<void>
}
