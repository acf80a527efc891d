// One-time links. Each use locks the user's row first, so that of two uses of one link the second finds no link.
import { canSignIn } from '../factors/factors.store.ts'
import type { Audited } from '../store/events.ts'
import { get, lock, lockUsers, Part, type Read, record, send, type Write } from '../store/statements.ts'
import { changePassword, type SetPassword } from '../users/user-changes.store.ts'

/** `invite` for the first password of a user who has no way to sign in yet, `reset` for another one. */
export type LinkPurpose = 'invite' | 'reset'

export type Link = {
  userId: string
  purpose: LinkPurpose
  expiresAt: number
  /** The address that the link is sent to, which its use verifies; null if it is passed on in another way. */
  email: string | null
  /** Where the browser goes after the use. */
  returnTo?: string | null | undefined
}
/** `tokenHash`: SHA-256 of the token, which itself is not stored. */
export type NewLink = Link & { tokenHash: string; at: number } & Audited

/**
 * Adds a link. The user's last three links of a purpose stay, in the order in which they were added; older ones are void from then on.
 * Returns 'absent' without such a user and for a disabled one, and 'not-first' for an invitation of a user who can sign in already.
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
  return (yield* lock`select 1 from "user" where id = ${userId} and disabled_at is null`) !== undefined
}

/** A link that was sent to an address ends with it: after the correction of a typing error it may be in another person's hands. */
const isToOwner = new Part('(email is null or email = (select u.email from "user" u where u.id = user_id))')

/** Finds a link by its hash. The caller checks if it has expired. */
export function* findLink(tokenHash: string): Read<Link | undefined> {
  return yield* get<Link>`
    select user_id as "userId", purpose, expires_at as "expiresAt", email, return_to as "returnTo"
    from one_time_link where token_hash = ${tokenHash} and ${isToOwner}`
}

/**
 * Uses a link: sets the password as `setPassword` does, which voids every link of the user, and raises the device generation, in one
 * step. If the link was sent to the address that the user still has, the address is verified from then on. Of calls at the same
 * time, also on other processes, one succeeds. If the user has no such link, it has expired at `at`, it was sent to an address that the user
 * no longer has, or the user is disabled, it changes nothing and returns 'refused', and 'not-first' for an invitation of a user who can sign
 * in already.
 */
export function* resetPassword(change: SetPassword & { tokenHash: string }): Write<'done' | 'refused' | 'not-first'> {
  const { userId, tokenHash, at } = change
  if (!(yield* lockEnabled(userId))) return 'refused'
  const link = yield* get<Pick<Link, 'purpose' | 'email'>>`
    select purpose, email from one_time_link where user_id = ${userId} and token_hash = ${tokenHash} and expires_at > ${at}
      and ${isToOwner}`
  if (link === undefined) return 'refused'
  if (link.purpose === 'invite' && (yield* canSignIn(userId))) return 'not-first'
  yield* changePassword(change)
  yield* send`
    update "user" set device_generation = device_generation + 1,
      email_verified_at = case when email = ${link.email} then coalesce(email_verified_at, ${at}) else email_verified_at end
    where id = ${userId}`
  return 'done'
}

/** Removes the links that had expired at `at`. */
export function* removeExpiredLinks(at: number): Write<void> {
  yield* send`delete from one_time_link where expires_at <= ${at}`
}
