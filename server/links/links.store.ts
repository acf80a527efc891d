// One-time links. Each use locks the user's row first, so that of two uses of one link the second finds no link.
import { get, lock, type Read, record, send, type Write } from '../store/statements/statements.ts'
import type { Input, Link } from '../store/store.ts'
import { lockUsers } from '../store/user-lock.ts'
import { changePassword } from '../users/user-changes.store.ts'

export const linkReads = { findLink }
export const linkWrites = { addLink, resetPassword, removeExpiredLinks }

function* addLink(link: Input<'addLink'>): Write<'done' | 'absent'> {
  const { userId, purpose, tokenHash, at, expiresAt, email } = link
  if (!(yield* lockEnabled(userId))) return 'absent'
  const newest = yield* get<{ createdAt: number | null }>`
    select max(created_at) as "createdAt" from one_time_link where user_id = ${userId} and purpose = ${purpose}`
  const createdAt = Math.max(at, (newest?.createdAt ?? 0) + 1)
  yield* send`
    insert into one_time_link (user_id, purpose, token_hash, created_at, expires_at, email)
    values (${userId}, ${purpose}, ${tokenHash}, ${createdAt}, ${expiresAt}, ${email})`
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

function* findLink(tokenHash: string): Read<Link | undefined> {
  return yield* get<Link>`
    select user_id as "userId", purpose, expires_at as "expiresAt", email from one_time_link where token_hash = ${tokenHash}`
}

function* resetPassword(change: Input<'resetPassword'>): Write<'done' | 'refused'> {
  const { userId, tokenHash, at } = change
  if (!(yield* lockEnabled(userId))) return 'refused'
  const link = yield* get<{ email: string | null }>`
    select email from one_time_link where user_id = ${userId} and token_hash = ${tokenHash} and expires_at > ${at}`
  if (link === undefined) return 'refused'
  yield* changePassword(change)
  yield* send`
    update "user" set device_generation = device_generation + 1,
      email_verified_at = case when email = ${link.email} then coalesce(email_verified_at, ${at}) else email_verified_at end
    where id = ${userId}`
  return 'done'
}

function* removeExpiredLinks(at: number): Write<void> {
  yield* send`delete from one_time_link where expires_at <= ${at}`
}
