// Marks notifications as read. Each write runs in the writer thread's transaction; each change raises the version by 1.
import { iso } from '../../../times.ts'
import type { Input } from '../../store.ts'
import type { WriteContext } from './context.ts'

export function markRead({ sql, signal }: WriteContext, { userId, id, at }: Input<'markRead'>): 'done' | 'absent' {
  const found = sql.get`
    select n.seq, n.category, n.read_at is not null or n.seq <= i.read_through as is_read
    from inbox i join notification n on n.user_id = i.user_id where i.user_id = ${userId} and n.id = ${id}`
  if (found === undefined) return 'absent'
  if (found.is_read === 1) return 'done'
  const inbox = sql.get`
    update inbox set version = version + 1, unread = unread - 1 where user_id = ${userId} returning version`
  sql.run`
    update notification set read_at = ${iso(at)}, changed_version = ${inbox?.version as number}
    where user_id = ${userId} and seq = ${found.seq as number}`
  if (found.category !== null)
    sql.run`
      update inbox_category set unread = unread - 1
      where user_id = ${userId} and category = ${found.category as string}`
  signal({ about: 'inbox', userId })
  return 'done'
}

export function markAllRead({ sql, signal }: WriteContext, change: Input<'markAllRead'>): 'done' | 'absent' {
  const { userId, throughId, throughSeq = Number.POSITIVE_INFINITY, at } = change
  const inbox = sql.get`select last_seq, unread, read_through from inbox where user_id = ${userId}`
  const through =
    throughId === null
      ? inbox && Math.min(Number(inbox.last_seq), throughSeq)
      : sql.get`select seq from notification where user_id = ${userId} and id = ${throughId}`?.seq
  if (inbox === undefined || through === undefined) return throughId === null ? 'done' : 'absent'
  const after = Math.max(Number(through), Number(inbox.read_through))
  // Reads only what lies after that: nothing after the last sequence number, and little after what a client has shown.
  const rest = sql.get`
    select count(*) as count from notification where user_id = ${userId} and seq > ${after} and read_at is null`
  const stillUnread = rest?.count as number
  if (stillUnread === inbox.unread) return 'done'
  const changed = sql.get`
    update inbox set version = version + 1, read_through = ${Number(through)}, unread = ${stillUnread}
    where user_id = ${userId} returning version`
  sql.run`
    insert into read_mark (user_id, version, through_seq, at)
    values (${userId}, ${changed?.version as number}, ${Number(through)}, ${iso(at)})`
  recountCategories(sql, userId, { after: Number(through), stillUnread })
  signal({ about: 'inbox', userId })
  return 'done'
}

type Rest = { after: number; stillUnread: number }

function recountCategories(sql: WriteContext['sql'], userId: string, { after, stillUnread }: Rest): void {
  sql.run`update inbox_category set unread = 0 where user_id = ${userId} and unread > 0`
  if (stillUnread === 0) return
  sql.run`
    update inbox_category set unread = found.count
    from (
      select category, count(*) as count from notification
      where user_id = ${userId} and seq > ${after} and read_at is null and category is not null group by category
    ) found
    where user_id = ${userId} and inbox_category.category = found.category`
}
