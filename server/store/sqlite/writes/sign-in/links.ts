// Adds one-time links, and uses them: once. Each write runs in the writer thread's transaction.
import type { Input } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'
import { setPassword } from './users.ts'

export function addLink(context: WriteContext, link: Input<'addLink'>): 'done' | 'absent' {
  const { userId, purpose, tokenHash, at, expiresAt, email } = link
  const { sql } = context
  const { changes } = sql.run`
    insert into one_time_link (user_id, purpose, token_hash, created_at, expires_at, email)
    select id, ${purpose}, ${tokenHash}, max(${at}, coalesce(
        (select max(created_at) + 1 from one_time_link where user_id = ${userId} and purpose = ${purpose}), 0)),
      ${expiresAt}, ${email}
    from user where id = ${userId} and disabled_at is null`
  if (changes === 0) return 'absent'
  sql.run`
    delete from one_time_link where user_id = ${userId} and purpose = ${purpose} and token_hash not in (
      select token_hash from one_time_link where user_id = ${userId} and purpose = ${purpose}
      order by created_at desc limit 3)`
  recordAudit(context, link.audit)
  return 'done'
}

export function resetPassword(context: WriteContext, change: Input<'resetPassword'>): 'done' | 'refused' {
  const { sql } = context
  const { userId, tokenHash, at } = change
  const link = sql.get`
    select l.email from one_time_link l join user u on u.id = l.user_id
    where l.user_id = ${userId} and l.token_hash = ${tokenHash} and l.expires_at > ${at} and u.disabled_at is null`
  if (link === undefined) return 'refused'
  setPassword(context, change)
  sql.run`
    update user set device_generation = device_generation + 1,
      email_verified_at = iif(email = ${link.email as string | null}, coalesce(email_verified_at, ${at}), email_verified_at)
    where id = ${userId}`
  return 'done'
}

export function removeExpiredLinks({ sql }: WriteContext, at: number): void {
  sql.run`delete from one_time_link where expires_at <= ${at}`
}
