// Adds and changes users, disables them and sets their passwords. Each write runs in the writer thread's transaction.

import { namespaceOf } from '../../../namespaces.ts'
import type { Audited, Input, NewUser, Profile, PutUser, User } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'
import { endProofs, isExceptionAlive } from './proofs.ts'

export function addUser(
  context: WriteContext,
  user: NewUser & Audited,
): 'added' | 'username-taken' | 'external-id-taken' {
  const { sql } = context
  const { changes } = sql.run`
    insert into user (id, username, display_name, password_hash, created_at, external_id, issuer, locale, email,
      email_verified_at)
    values (${user.id}, ${user.username}, ${user.displayName}, ${user.passwordHash}, ${user.createdAt},
      ${user.externalId ?? null}, ${namespaceOf(user)}, ${user.locale ?? null}, ${user.email ?? null},
      ${proofOf(user)})
    on conflict do nothing`
  if (changes === 1) {
    recordAudit(context, user.audit)
    return 'added'
  }
  return isUsernameTaken(sql, user.username) ? 'username-taken' : 'external-id-taken'
}

function isUsernameTaken(sql: WriteContext['sql'], username: string | null): boolean {
  return sql.get`select 1 from user where username = ${username}` !== undefined
}

type Put = Input<'putUsers'>

export function putUsers(context: WriteContext, { at, users, ...of }: Put): PutUser[] {
  const namespace = namespaceOf(of)
  const outcomes = users.map((user) => putUser(context, { user, namespace, at }))
  return users.map(({ externalId }, n) => ({
    user: userOf(context.sql, { externalId, namespace }),
    created: outcomes[n] === 'created',
    ...(outcomes[n] !== 'unchanged' && users[n]?.entry !== undefined && { recorded: true as const }),
  }))
}

function putUser(
  context: WriteContext,
  one: { user: Put['users'][number]; namespace: string; at: number },
): 'created' | 'changed' | 'unchanged' {
  const { sql } = context
  const { user, namespace, at } = one
  const { entry } = user
  const { changes } = sql.run`
    insert into user (id, created_at, external_id, issuer, display_name, locale, email, email_verified_at)
    values (${user.newId}, ${at}, ${user.externalId}, ${namespace}, ${user.displayName ?? null}, ${user.locale ?? null},
      ${user.email ?? null}, ${proofOf(user)})
    on conflict (external_id, issuer) where external_id is not null do nothing`
  if (changes === 1) {
    if (entry !== undefined) recordAudit(context, [entry])
    return 'created'
  }
  const before = userOf(sql, { namespace, externalId: user.externalId })
  const userId = before.id
  if (!setProfile(sql, before, user)) return 'unchanged'
  if (entry !== undefined) recordAudit(context, [{ ...entry, event: 'user-changed', userId }])
  return 'changed'
}

function userOf(sql: WriteContext['sql'], { namespace, externalId }: { namespace: string; externalId: string }): User {
  const user = sql.get`
    select id, username, display_name as "displayName", created_at as "createdAt", disabled_at as "disabledAt",
      credential_generation as "credentialGeneration", external_id as "externalId", locale, email,
      substr(issuer, 1, max(instr(issuer, char(1)) - 1, 0)) as application,
      substr(issuer, instr(issuer, char(1)) + 1) as issuer,
      issued_generation as "issuedGeneration", email_verified_at as "emailVerifiedAt",
      device_generation as "deviceGeneration", password_reported_at as "passwordReportedAt"
    from user where external_id = ${externalId} and issuer = ${namespace}`
  return { ...user } as User
}

export function updateUser(
  context: WriteContext,
  { userId, username, audit, ...profile }: Input<'updateUser'>,
): 'done' | 'absent' | 'username-taken' {
  const { sql } = context
  const before = sql.get`
    select id, display_name as "displayName", locale, email, email_verified_at as "emailVerifiedAt"
    from user where id = ${userId}`
  if (before === undefined) return 'absent'
  if (username !== undefined) {
    const { changes } = sql.run`update or ignore user set username = ${username} where id = ${userId}`
    if (changes === 0) return 'username-taken'
    sql.run`update session set username = ${username} where user_id = ${userId}`
  }
  setProfile(sql, before as Before, profile)
  recordAudit(context, audit)
  return 'done'
}

type Before = Pick<User, 'id'> & Required<Profile>

/** Returns whether a field has another value now. */
function setProfile(sql: WriteContext['sql'], before: Before, given: Profile): boolean {
  const { displayName = before.displayName, locale = before.locale, email = before.email } = given
  const emailVerifiedAt = proofAfter(before, { email, given: given.emailVerifiedAt })
  const { changes } = sql.run`
    update user set display_name = ${displayName}, locale = ${locale}, email = ${email}, email_verified_at = ${emailVerifiedAt}
    where id = ${before.id} and (display_name is not ${displayName} or locale is not ${locale} or email is not ${email}
      or email_verified_at is not ${emailVerifiedAt})`
  return changes === 1
}

/** A new address has no proof unless one is given with it. */
function proofAfter(before: Before, { email, given }: { email: string | null; given: number | null | undefined }) {
  if (email === null || given === null) return null
  if (email !== before.email) return given ?? null
  return before.emailVerifiedAt ?? given ?? null
}

/** Of a new user. */
function proofOf({ email = null, emailVerifiedAt = null }: Profile): number | null {
  return email === null ? null : emailVerifiedAt
}

export function disableUser(context: WriteContext, change: Input<'disableUser'>): 'done' | 'absent' {
  const { changes } = context.sql.run`
    update user set disabled_at = coalesce(disabled_at, ${change.at}), credential_generation = credential_generation + 1,
      device_generation = device_generation + 1
    where id = ${change.userId}`
  if (changes === 0) return 'absent'
  endLinksAndProofs(context, change)
  return 'done'
}

/** Of a user who was disabled or has a new password; with the entries that say so. */
function endLinksAndProofs(context: WriteContext, change: Input<'disableUser'> | Input<'setPassword'>): void {
  context.sql.run`delete from one_time_link where user_id = ${change.userId}`
  endProofs(context, change)
  recordAudit(context, change.audit)
}

export function enableUser(context: WriteContext, { userId, audit }: Input<'enableUser'>): 'done' | 'absent' {
  const { changes } = context.sql.run`update user set disabled_at = null where id = ${userId}`
  if (changes === 0) return 'absent'
  recordAudit(context, audit)
  return 'done'
}

export function setPassword(context: WriteContext, change: Input<'setPassword'>): 'done' | 'absent' | 'refused' {
  if (!isExceptionAlive(context, change)) return 'refused'
  const { changes } = context.sql.run`
    update user set password_hash = ${change.passwordHash}, disabled_at = null, password_reported_at = null,
      credential_generation = credential_generation + 1
    where id = ${change.userId}`
  if (changes === 0) return 'absent'
  endLinksAndProofs(context, change)
  return 'done'
}

export function resetFactors(context: WriteContext, change: Input<'resetFactors'>): number | 'absent' {
  const { sql } = context
  const { userId } = change
  const { changes } = sql.run`
    update user set credential_generation = credential_generation + 1 where id = ${userId}`
  if (changes === 0) return 'absent'
  const removed = sql.run`delete from factor where user_id = ${userId}`
  sql.run`delete from recovery_code where user_id = ${userId}`
  sql.run`delete from challenge where user_id = ${userId}`
  endProofs(context, change)
  recordAudit(context, change.audit)
  return Number(removed.changes)
}

export function rehashPassword({ sql }: WriteContext, change: Input<'rehashPassword'>): 'done' | 'refused' {
  const { changes } = sql.run`
    update user set password_hash = ${change.passwordHash}
    where id = ${change.userId} and password_hash = ${change.checkedPasswordHash}`
  return changes === 1 ? 'done' : 'refused'
}
