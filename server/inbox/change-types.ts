// What happened in an inbox that a client has to hear of, as SQL of both engines.
import { maxRemoved } from './inbox-state.ts'

/** How the notification `n` arrived. A muted one arrives in the archive. */
export const arrivalType = `case when n.away = 'archived' and n.changed_version is null then 'archived'
    when n.count > 1 then 'replaced' else 'created' end`

/** The last branches of a `case`. `isUnread`: an expression. */
export const laterType = (isUnread: string) => `when n.away is not null then n.away
      when ${isUnread} then 'unread'
      when n.away_at is not null then 'unarchived'
      else 'read'`

/**
 * What happened to many notifications, or to one that is gone. Parameters: the user, the version after which it happened, the limit.
 */
export function marksSql(engine: 'sqlite' | 'postgres') {
  const isPostgres = engine === 'postgres'
  const [user, since, limit] = isPostgres ? ['$1', '$2', '$3'] : ['?1', '?2', '+?3']
  const row = (columns: string) => (isPostgres ? `json_build_array(${columns})::text` : columns)
  const rowsOf = (table: string, columns: string, atMost = limit) => `
    select ${row(columns)} from ${table} where user_id = ${user} and version > ${since} order by version limit ${atMost}`
  return {
    readAlls: `
    select ${row('m.version, m.through_seq, n.id, m.at, m.categories')}
    from (
      select m.version, m.at, m.categories, case when m.categories is null then m.through_seq else (
        select c.through_seq from category_read_mark c
        where c.user_id = ${user} and c.category = m.categories${isPostgres ? '::json' : ''} ->> 0 and c.version = m.version
      ) end as through_seq from read_mark m where m.user_id = ${user} and m.version > ${since}
    ) m left join notification n on n.user_id = ${user} and n.seq = m.through_seq
    order by m.version limit ${limit}`,
    archiveReads: rowsOf('archive_mark', 'version, through_seq, at'),
    removals: rowsOf('removal', 'version, id, reason, at', isPostgres ? `$3 + ${maxRemoved}` : `${maxRemoved + 1}`),
  }
}
