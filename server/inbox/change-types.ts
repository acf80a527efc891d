// What a client has to hear of an inbox, as SQL of both engines.
import { maxRemoved } from './inbox-state.ts'

/** A muted notification arrives in the archive. */
export const arrivalType = `case when n.archived_at is not null and n.changed_version is null and n.bulk_version is null then 'archived'
    when n.count > 1 then 'replaced' else 'created' end`

export const laterType = `case when n.state <> 'read' then n.state
      when n.unarchived_version = n.changed_version then 'unarchived' else 'read' end`

/** Parameters: user, version before, limit. */
export function eventsSql(engine: 'sqlite' | 'postgres') {
  const isPostgres = engine === 'postgres'
  const [user, since, limit] = isPostgres ? ['$1', '$2', '$3'] : ['?1', '?2', '+?3']
  const row = (columns: string) => (isPostgres ? `json_build_array(${columns})::text` : columns)
  return {
    bulk: `
    select ${row('b.version, b.kind, b.through_seq, n.id, b.at, b.categories')}
    from bulk b left join notification n on n.user_id = ${user} and n.seq = b.through_seq
    where b.user_id = ${user} and b.version > ${since} order by b.version limit ${limit}`,
    removals: `
    select ${row('version, id, reason, at')} from removal
    where user_id = ${user} and version > ${since} order by version limit ${isPostgres ? `$3 + ${maxRemoved}` : `${maxRemoved + 1}`}`,
  }
}
