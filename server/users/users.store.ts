// user-changes.store.ts ends the proofs of users.
import { record } from '../audit/audit.store.ts'
import { chooseTimeZone, reachAddress } from '../inbox/reminders.store.ts'
import { userKey } from '../inbox/user-key.ts'
import type { Audited } from '../store/events.ts'
import {
  all,
  exists,
  get,
  lock,
  onCitus,
  Part,
  type Read,
  run,
  send,
  signal,
  type Write,
} from '../store/statements.ts'
import { forgetErased, type Recognition } from './erasure/erased-ids.store.ts'

export type User = {
  id: string
  /** Null for a user who cannot sign in with a password. */
  username: string | null
  displayName: string | null
  createdAt: number
  disabledAt: number | null
  /** A new password and disabling raise it, which revokes earlier tokens. */
  credentialGeneration: number
  /** '' for none. It never changes. */
  application: string
  /** Unique for application and issuer, byte by byte. */
  externalId: string | null
  issuer: string
  locale: string | null
  email: string | null
  issuedGeneration: number
  emailVerifiedAt: number | null
  deviceGeneration: number
  /** When the user said that somebody else knows the password. */
  passwordReportedAt: number | null
  passwordEndsAt: number | null
  role: Role | null
}

/** No application's key changes a user with a role. */
export type Role = 'operator'

const prefixLength = new Part('instr(u.issuer, char(1))', 'strpos(u.issuer, chr(1))')
const columnsWith = (length: string) => `
  u.id, u.username, u.display_name as "displayName", u.created_at as "createdAt", u.disabled_at as "disabledAt",
  u.credential_generation as "credentialGeneration", u.external_id as "externalId", u.locale, u.email,
  substr(u.issuer, 1, ${length} - cast(${length} > 0 as integer)) as application, substr(u.issuer, ${length} + 1) as issuer,
  u.issued_generation as "issuedGeneration", u.email_verified_at as "emailVerifiedAt",
  u.device_generation as "deviceGeneration", u.password_reported_at as "passwordReportedAt",
  u.password_ends_at as "passwordEndsAt", u.role`
export const userColumns = new Part(
  columnsWith(prefixLength.sqlite),
  columnsWith(prefixLength.postgres),
)

/** Without `issuer`, the external id is plain. */
export type NewUser = Pick<User, 'id' | 'username' | 'displayName' | 'createdAt'> &
  Partial<
    Pick<User, 'externalId' | 'locale' | 'email' | 'emailVerifiedAt' | 'passwordEndsAt' | 'role'>
  > &
  Namespace & { passwordHash: string | null; timeZone?: string | null }

export type Credentials = User & { username: string; passwordHash: string }

type UserQuery = Pick<Namespace, 'application'> & {
  after: string
  limit: number
  search?: string | undefined
  externalId?: string | undefined
}

export function* findUser(userId: string): Read<User | undefined> {
  return yield* get`select ${userColumns} from "user" u where u.id = ${userId}`
}

export function* findUserByUsername(username: string): Read<User | undefined> {
  return yield* get`select ${userColumns} from "user" u where u.username = ${username}`
}

export function* findUserByExternalId(
  key: { externalId: string } & Namespace,
): Read<User | undefined> {
  return yield* get`
    select ${userColumns} from "user" u where u.external_id = ${key.externalId} and u.issuer = ${namespaceOf(key)}`
}

export function* findCredentials(username: string): Read<Credentials | undefined> {
  return yield* get`
    select ${userColumns}, u.password_hash as "passwordHash" from "user" u
    where u.username = ${username} and u.password_hash is not null`
}

// In collation "C", lower() changes only ASCII, as in SQLite.
const searched = new Part(
  'lower(concat_ws(char(1), u.username, u.display_name, u.email, u.external_id))',
  'lower(concat_ws(chr(1), u.username, u.display_name, u.email, u.external_id) collate "C")',
)
const placeIn = new Part('instr', 'strpos')

export function lowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Users of no application come first: none crowds them out. `canSignIn`: by this address. */
export function* findUsersByEmail(query: {
  email: string
  limit: number
  canSignIn?: boolean
}): Read<User[]> {
  const { email, limit, canSignIn = false } = query
  return yield* all`
    select ${userColumns} from "user" u
    where lower(u.email) = ${lowerCase(email)} and u.email is not null and u.username is not null
      and (${Number(canSignIn)} = 0 or u.email_verified_at is not null and ${prefixLength} = 0)
    order by ${prefixLength} > 0, u.id limit ${limit}`
}

export function* hasVerifiedEmail(): Read<boolean> {
  return yield* exists`
    select 1 from "user" u where u.email_verified_at is not null and ${prefixLength} = 0 limit 1`
}

/**
 * Lists users by id, after the id `after`. `search` looks in username, display name, address or
 * external id, ignoring ASCII case. `externalId` finds those of all issuers.
 */
export function* listUsers(query: UserQuery): Read<User[]> {
  const { after, limit, externalId, application } = query
  const search = lowerCase(query.search ?? '')
  const prefix = prefixOf(application)
  if (externalId !== undefined)
    return yield* all`
      select ${userColumns} from "user" u
      where u.external_id = ${externalId} and ${placeIn}(u.issuer, ${prefix}) = 1 and u.id > ${after}
        and ${placeIn}(${searched}, ${search}) > 0
      order by u.id limit ${limit}`
  if (prefix !== '')
    return yield* all`
      select ${userColumns} from "user" u
      where ${prefixLength} > 0 and substr(u.issuer, 1, ${prefixLength}) = ${prefix} and u.id > ${after}
        and ${placeIn}(${searched}, ${search}) > 0
      order by u.id limit ${limit}`
  return yield* all`
    select ${userColumns} from "user" u
    where u.id > ${after} and ${placeIn}(${searched}, ${search}) > 0
    order by u.id limit ${limit}`
}

/** `erased`: created again after an erasure. */
export type AddedUser = User & { erased?: boolean }

type Addition = NewUser & { erased?: Recognition | undefined } & Audited

/** Adds a user, or changes nothing and says which name is taken. Forgets that the id was erased. */
export function* addUser(
  user: Addition,
): Write<AddedUser | 'username-taken' | 'external-id-taken'> {
  const provedAt = user.email ? (user.emailVerifiedAt ?? null) : null
  yield* lockUsers()
  const added = yield* run`
    insert into "user" (id, username, display_name, password_hash, created_at, external_id, issuer, locale, email,
      email_verified_at, password_ends_at, role)
    values (${user.id}, ${user.username}, ${user.displayName}, ${user.passwordHash}, ${user.createdAt},
      ${user.externalId ?? null}, ${namespaceOf(user)}, ${user.locale ?? null}, ${user.email ?? null}, ${provedAt},
      ${user.passwordEndsAt ?? null}, ${user.role ?? null})
    on conflict do nothing`
  if (added === 0)
    return (yield* isUsernameTaken(user.username, user.id)) ? 'username-taken' : 'external-id-taken'
  if (provedAt !== null) yield* reachAddress(user.id, true)
  if (user.timeZone != null) yield* chooseTimeZone(user.id, user.timeZone)
  yield* record(user.audit)
  const named = { namespace: namespaceOf(user), externalId: user.externalId ?? '' }
  const again = yield* forgetErased(user.erased, [named])
  const stored = (yield* findUser(user.id)) as User
  return again.length > 0 ? { ...stored, erased: true } : stored
}

function* isUsernameTaken(username: string | null, userId: string): Read<boolean> {
  return yield* exists`select 1 from "user" where username = ${username} and id <> ${userId}`
}

type UpdateUser = { userId: string; username?: string; timeZone?: string | null } & Profile &
  Audited

/** Renames the user's sessions, too. */
export function* updateUser(change: UpdateUser): Write<'done' | 'absent' | 'username-taken'> {
  const { userId, username, timeZone, audit, ...profile } = change
  yield* lockUsers()
  const before = yield* lock<Required<Profile>>`
    select display_name as "displayName", locale, email, email_verified_at as "emailVerifiedAt"
    from "user" where id = ${userId}`
  if (before === undefined) return 'absent'
  if (username !== undefined) {
    if (yield* isUsernameTaken(username, userId)) return 'username-taken'
    // If another call takes the username now, the write runs again.
    yield* send`update "user" set username = ${username} where id = ${userId}`
    yield* send`update session set username = ${username} where user_id = ${userId}`
  }
  const { displayName, locale, email, emailVerifiedAt } = profileAfter(before, profile)
  yield* send`
    update "user" set display_name = ${displayName}, locale = ${locale}, email = ${email},
      email_verified_at = ${emailVerifiedAt}
    where id = ${userId}`
  if (email !== before.email || emailVerifiedAt !== before.emailVerifiedAt)
    yield* reachAddress(userId, emailVerifiedAt !== null)
  if (timeZone !== undefined) yield* chooseTimeZone(userId, timeZone)
  if (locale !== before.locale) yield* changeLanguage(userId)
  yield* record(audit)
  return 'done'
}

/** The inbox's texts change, so clients load the list again. */
export function* changeLanguage(userId: string): Write<void> {
  yield* send`
    update inbox set version = version + 1, reset_version = version + 1 where user_id = ${userKey(userId)}`
  yield* signal({ about: 'inbox', userId })
}

/** Ended proofs stay ended. */
export function* enableUser({
  userId,
  audit,
}: { userId: string } & Audited): Write<'done' | 'absent'> {
  yield* lockUsers()
  if ((yield* run`update "user" set disabled_at = null where id = ${userId}`) === 0) return 'absent'
  yield* record(audit)
  return 'done'
}

type Rehash = { userId: string; checkedPasswordHash: string; passwordHash: string }

/** 'refused' if another hash than the checked one is stored. */
export function* rehashPassword(change: Rehash): Write<'done' | 'refused'> {
  yield* lockUsers()
  const changed = yield* run`
    update "user" set password_hash = ${change.passwordHash}
    where id = ${change.userId} and password_hash = ${change.checkedPasswordHash}`
  return changed === 0 ? 'refused' : 'done'
}

// Rows have the application before an issuer and beside a notification's key, so that the unique
// index keeps applications apart.

/** No issuer contains it. */
const end = '\u0001'

export function prefixOf(application: string | undefined): string {
  return application ? `${application}${end}` : ''
}

export function namespaceOf({ application, issuer = '' }: Namespace): string {
  return `${prefixOf(application)}${issuer}`
}

export type Namespace = { application?: string | undefined; issuer?: string | undefined }

export function keyColumns({
  application = '',
  key,
}: {
  application?: string | undefined
  key: string | null
}) {
  return { key, application: key === null ? '' : application }
}

export type Profile = Partial<Pick<User, 'displayName' | 'locale' | 'email' | 'emailVerifiedAt'>>

/** Null clears a field. A new address needs a proof; the first proof's time stays. */
export function profileAfter(before: Required<Profile>, given: Profile): Required<Profile> {
  const { displayName = before.displayName, locale = before.locale, email = before.email } = given
  return {
    displayName,
    locale,
    email,
    emailVerifiedAt: proofAfter(before, email, given.emailVerifiedAt),
  }
}

function proofAfter(
  before: Required<Profile>,
  email: string | null,
  given: number | null | undefined,
): number | null {
  if (email === null || given === null) return null
  if (email !== before.email) return given ?? null
  return before.emailVerifiedAt ?? given ?? null
}

export function* lockUser(userId: string): Write<boolean> {
  yield* lockUsers()
  return (yield* lock`select 1 from "user" where id = ${userId}`) !== undefined
}

/** A row lock on Citus locks the table: two callers would deadlock. */
export function* lockUsers(): Write<void> {
  yield* onCitus`select pg_advisory_xact_lock(hashtext('carillon users'))`
}
