// Each use locks the user's row, so a second use finds no link.

import { record } from '../audit/audit.store.ts'
import { canSignIn } from '../factors/factors.store.ts'
import { reachAddress } from '../inbox/reminders.store.ts'
import type { Audited } from '../store/events.ts'
import { get, lock, Part, type Read, send, type Write } from '../store/statements.ts'
import { changePassword, type SetPassword } from '../users/access/user-changes.store.ts'
import { lockUsers } from '../users/users.store.ts'

/** `invite` sets a first password. `factor` adds a first second factor (factors.store.ts). */
export type LinkPurpose = 'invite' | 'reset' | 'factor'

export type Link = {
  userId: string
  purpose: LinkPurpose
  expiresAt: number
  email: string | null
  returnTo?: string | null | undefined
}
/** The store has the token only as `tokenHash`, SHA-256. */
export type NewLink = Link & { tokenHash: string; at: number } & Audited

/**
 * The user's last three of a purpose stay. Returns 'absent' also for a disabled user, 'not-first'
 * for an invitation of one who can sign in.
 */
export function* addLink(link: NewLink): Write<'done' | 'absent' | 'not-first'> {
  const { userId, purpose, tokenHash, at, expiresAt, email, returnTo = null } = link
  if (!(yield* lockEnabled(userId))) return 'absent'
  if (purpose === 'invite' && (yield* canSignIn(userId))) return 'not-first'
  const newest = yield* get<{ createdAt: number | null }>`
    select max(created_at) as "createdAt" from one_time_link where user_id = ${userId} and purpose = ${purpose}`
  const createdAt = Math.max(at, (newest?.createdAt ?? 0) + 1)
  yield* send`
    insert into one_time_link (user_id, purpose, token_hash, created_at, expires_at, email, return_to)
    values (${userId}, ${purpose}, ${tokenHash}, ${createdAt}, ${expiresAt}, ${email}, ${returnTo})`
  yield* send`
    delete from one_time_link where user_id = ${userId} and purpose = ${purpose} and token_hash not in (
      select token_hash from one_time_link where user_id = ${userId} and purpose = ${purpose}
      order by created_at desc limit 3)`
  yield* record(link.audit)
  return 'done'
}

function* lockEnabled(userId: string): Write<boolean> {
  yield* lockUsers()
  return (
    (yield* lock`select 1 from "user" where id = ${userId} and disabled_at is null`) !== undefined
  )
}

/** After a corrected typing error, the old address may be another person's. */
const isToOwner = new Part(
  '(email is null or email = (select u.email from "user" u where u.id = user_id))',
)

/** The caller checks the expiry. */
export function* findLink(tokenHash: string): Read<Link | undefined> {
  return yield* get<Link>`
    select user_id as "userId", purpose, expires_at as "expiresAt", email, return_to as "returnTo"
    from one_time_link where token_hash = ${tokenHash} and purpose <> 'factor' and ${isToOwner}`
}

/**
 * Sets the password, voids every link, raises the device generation, and verifies the address if
 * the link was sent there. Of simultaneous calls, one succeeds. Changes nothing if it returns
 * 'refused' (no such link, an expired one, one to another address, or a disabled user) or
 * 'not-first' (an invitation of one who can sign in).
 */
export function* resetPassword(
  change: SetPassword & { tokenHash: string },
): Write<'done' | 'refused' | 'not-first'> {
  const { userId, tokenHash, at } = change
  if (!(yield* lockEnabled(userId))) return 'refused'
  const link = yield* get<Pick<Link, 'purpose' | 'email'>>`
    select purpose, email from one_time_link where user_id = ${userId} and token_hash = ${tokenHash} and purpose <> 'factor'
      and expires_at > ${at} and ${isToOwner}`
  if (link === undefined) return 'refused'
  if (link.purpose === 'invite' && (yield* canSignIn(userId))) return 'not-first'
  yield* changePassword(change)
  yield* send`
    update "user" set device_generation = device_generation + 1,
      email_verified_at = case when email = ${link.email} then coalesce(email_verified_at, ${at}) else email_verified_at end
    where id = ${userId}`
  if (link.email !== null) yield* reachAddress(userId, true)
  return 'done'
}

export function* removeExpiredLinks(at: number): Write<void> {
  yield* send`delete from one_time_link where expires_at <= ${at}`
}
