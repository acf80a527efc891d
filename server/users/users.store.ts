// Users: finds, lists and adds them, and changes their profiles. What ends their proofs is in user-changes.store.ts.
import type { Audited } from '../store/events.ts'
import {
  all,
  exists,
  get,
  lock,
  lockUsers,
  Part,
  type Read,
  record,
  run,
  send,
  signal,
  userKey,
  type Write,
} from '../store/statements.ts'
import { forgetErased, type Recognition } from './erased-ids.store.ts'

export type User = {
  id: string
  /** Prepared by username.ts. Unique; null for a user who cannot sign in with a password. */
  username: string | null
  displayName: string | null
  createdAt: number
  disabledAt: number | null
  /** Starts at 0. Each new password and each call that disables the user raises it by one, which revokes earlier tokens. */
  credentialGeneration: number
  /** The application that the user belongs to; '' for a user of none. It never changes. */
  application: string
  /** The id of the user in the application, compared byte by byte. Unique for its application and issuer; null for a user without one. */
  externalId: string | null
  /** The issuer of foreign tokens that the external id belongs to; '' for a plain id. */
  issuer: string
  /** A BCP 47 language tag. */
  locale: string | null
  email: string | null
  /** Starts at 0. Each revocation of the user's issued tokens raises it by one. */
  issuedGeneration: number
  /** When the user proved that `email` is theirs; null without a proof, and after a change of the address. */
  emailVerifiedAt: number | null
  /** Starts at 0. A device token with a lower generation is not valid. */
  deviceGeneration: number
  /** When the user said that somebody else knows the password; null after a new password. */
  passwordReportedAt: number | null
}

/** The length of `prefixOf` in the column `issuer` of the table `u`. */
const prefixLength = new Part('instr(u.issuer, char(1))', 'strpos(u.issuer, chr(1))')
const columnsWith = (length: string) => `
  u.id, u.username, u.display_name as "displayName", u.created_at as "createdAt", u.disabled_at as "disabledAt",
  u.credential_generation as "credentialGeneration", u.external_id as "externalId", u.locale, u.email,
  substr(u.issuer, 1, ${length} - cast(${length} > 0 as integer)) as application, substr(u.issuer, ${length} + 1) as issuer,
  u.issued_generation as "issuedGeneration", u.email_verified_at as "emailVerifiedAt",
  u.device_generation as "deviceGeneration", u.password_reported_at as "passwordReportedAt"`
/** The columns of the table `u`, which make a User. */
export const userColumns = new Part(columnsWith(prefixLength.sqlite), columnsWith(prefixLength.postgres))

/** A user of no application if `application` is absent. Without `issuer`, the external id is a plain one. */
export type NewUser = Pick<User, 'id' | 'username' | 'displayName' | 'createdAt'> &
  Partial<Pick<User, 'externalId' | 'locale' | 'email' | 'emailVerifiedAt'>> &
  Namespace & { passwordHash: string | null }

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

/** Finds a user by prepared username. */
export function* findUserByUsername(username: string): Read<User | undefined> {
  return yield* get`select ${userColumns} from "user" u where u.username = ${username}`
}

/** Finds a user by external id, compared byte by byte. Without `issuer`, it is a plain id; without `application`, one of no application. */
export function* findUserByExternalId(key: { externalId: string } & Namespace): Read<User | undefined> {
  return yield* get`
    select ${userColumns} from "user" u where u.external_id = ${key.externalId} and u.issuer = ${namespaceOf(key)}`
}

/** Finds a user by prepared username who has a password, with the password hash and the credential generation that belongs to that hash. */
export function* findCredentials(username: string): Read<Credentials | undefined> {
  return yield* get`
    select ${userColumns}, u.password_hash as "passwordHash" from "user" u
    where u.username = ${username} and u.password_hash is not null`
}

// In the collation "C", which columns have, lower() of PostgreSQL changes ASCII letters only, as on SQLite.
const searched = new Part(
  'lower(concat_ws(char(1), u.username, u.display_name, u.email, u.external_id))',
  'lower(concat_ws(chr(1), u.username, u.display_name, u.email, u.external_id) collate "C")',
)
/** The place of a text in another one, from 1; 0 if it is not there. That of '' is 1. */
const placeIn = new Part('instr', 'strpos')

/** As lower() of the engines. */
function lowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/**
 * Finds at most `limit` users with a username and this e-mail address, in upper or lower case of ASCII: those of no application
 * first, so that no application crowds them out. `canSignIn`: only those who sign in by it, of no application and with a proof.
 */
export function* findUsersByEmail(query: { email: string; limit: number; canSignIn?: boolean }): Read<User[]> {
  const { email, limit, canSignIn = false } = query
  return yield* all`
    select ${userColumns} from "user" u
    where lower(u.email) = ${lowerCase(email)} and u.email is not null and u.username is not null
      and (${Number(canSignIn)} = 0 or u.email_verified_at is not null and ${prefixLength} = 0)
    order by ${prefixLength} > 0, u.id limit ${limit}`
}

/** Whether a user can sign in by an e-mail address: one of no application, with a proof. */
export function* hasVerifiedEmail(): Read<boolean> {
  return yield* exists`
    select 1 from "user" u where u.email_verified_at is not null and ${prefixLength} = 0 limit 1`
}

/**
 * Lists users ordered by id, which is the order of creation, at most `limit` of them, starting after the id `after`. With
 * `search`, only those whose username, display name, e-mail address or external id contains it; upper and lower case of ASCII
 * letters are the same. With `externalId`, only those with this external id, of every issuer. With `application`, only its users.
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

/** `erased`: the user was created again, by the external id of a user who was erased. */
export type AddedUser = User & { erased?: boolean }

type Addition = NewUser & { erased?: Recognition | undefined } & Audited

/**
 * Adds a user, and returns the user. If the username or the external id is taken, says so and changes nothing. If the external id had been
 * erased, that is forgotten.
 */
export function* addUser(user: Addition): Write<AddedUser | 'username-taken' | 'external-id-taken'> {
  const provedAt = user.email ? (user.emailVerifiedAt ?? null) : null
  yield* lockUsers()
  const added = yield* run`
    insert into "user" (id, username, display_name, password_hash, created_at, external_id, issuer, locale, email,
      email_verified_at)
    values (${user.id}, ${user.username}, ${user.displayName}, ${user.passwordHash}, ${user.createdAt},
      ${user.externalId ?? null}, ${namespaceOf(user)}, ${user.locale ?? null}, ${user.email ?? null}, ${provedAt})
    on conflict do nothing`
  if (added === 0) return (yield* isUsernameTaken(user.username, user.id)) ? 'username-taken' : 'external-id-taken'
  yield* record(user.audit)
  const named = { namespace: namespaceOf(user), externalId: user.externalId ?? '' }
  const again = yield* forgetErased(user.erased, [named])
  const stored = (yield* findUser(user.id)) as User
  return again.length > 0 ? { ...stored, erased: true } : stored
}

function* isUsernameTaken(username: string | null, userId: string): Read<boolean> {
  return yield* exists`select 1 from "user" where username = ${username} and id <> ${userId}`
}

type UpdateUser = { userId: string; username?: string } & Profile & Audited

/** Changes the fields that are given. A new username applies to the user's sessions in the same step. */
export function* updateUser(change: UpdateUser): Write<'done' | 'absent' | 'username-taken'> {
  const { userId, username, audit, ...profile } = change
  yield* lockUsers()
  const before = yield* lock<Required<Profile>>`
    select display_name as "displayName", locale, email, email_verified_at as "emailVerifiedAt"
    from "user" where id = ${userId}`
  if (before === undefined) return 'absent'
  if (username !== undefined) {
    if (yield* isUsernameTaken(username, userId)) return 'username-taken'
    // If another call takes the username at this moment, this fails, and the write runs again and finds it taken.
    yield* send`update "user" set username = ${username} where id = ${userId}`
    yield* send`update session set username = ${username} where user_id = ${userId}`
  }
  const { displayName, locale, email, emailVerifiedAt } = profileAfter(before, profile)
  yield* send`
    update "user" set display_name = ${displayName}, locale = ${locale}, email = ${email},
      email_verified_at = ${emailVerifiedAt}
    where id = ${userId}`
  if (locale !== before.locale) yield* changeLanguage(userId)
  yield* record(audit)
  return 'done'
}

/** In the step that changes the user's language: the texts of the inbox are others, so its clients load the list again. */
export function* changeLanguage(userId: string): Write<void> {
  yield* send`
    update inbox set version = version + 1, reset_version = version + 1 where user_id = ${userKey(userId)}`
  yield* signal({ about: 'inbox', userId })
}

/** Enables a disabled user. The proofs that ended when the user was disabled stay ended. */
export function* enableUser({ userId, audit }: { userId: string } & Audited): Write<'done' | 'absent'> {
  yield* lockUsers()
  if ((yield* run`update "user" set disabled_at = null where id = ${userId}`) === 0) return 'absent'
  yield* record(audit)
  return 'done'
}

type Rehash = { userId: string; checkedPasswordHash: string; passwordHash: string }

/** Replaces a hash by another one of the same password. 'refused' if the stored hash is not the one that was checked. */
export function* rehashPassword(change: Rehash): Write<'done' | 'refused'> {
  yield* lockUsers()
  const changed = yield* run`
    update "user" set password_hash = ${change.passwordHash}
    where id = ${change.userId} and password_hash = ${change.checkedPasswordHash}`
  return changed === 0 ? 'refused' : 'done'
}

// How rows say which application they belong to, on both engines: as text before an issuer, so that the unique index keeps the
// applications apart and a row of no application costs nothing more, and in a column beside the key of a notification.

/** It is in no name of an application, and no client can write it into an issuer. */
const end = '\u0001'

/** What the column `issuer` of a user begins with: the application; empty for none. */
export function prefixOf(application: string | undefined): string {
  return application ? `${application}${end}` : ''
}

export function namespaceOf({ application, issuer = '' }: Namespace): string {
  return `${prefixOf(application)}${issuer}`
}

export type Namespace = { application?: string | undefined; issuer?: string | undefined }

/** The columns of a notification's key: the same key of another application, or of none, is another one. */
export function keyColumns({ application = '', key }: { application?: string | undefined; key: string | null }) {
  return { key, application: key === null ? '' : application }
}

export type Profile = Partial<Pick<User, 'displayName' | 'locale' | 'email' | 'emailVerifiedAt'>>

/** An absent field stays; null clears it. A new address needs a proof of its own; the time of the first proof stays. */
export function profileAfter(before: Required<Profile>, given: Profile): Required<Profile> {
  const { displayName = before.displayName, locale = before.locale, email = before.email } = given
  return { displayName, locale, email, emailVerifiedAt: proofAfter(before, email, given.emailVerifiedAt) }
}

function proofAfter(before: Required<Profile>, email: string | null, given: number | null | undefined): number | null {
  if (email === null || given === null) return null
  if (email !== before.email) return given ?? null
  return before.emailVerifiedAt ?? given ?? null
}
