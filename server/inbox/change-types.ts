// What happened to a notification `n` that a client has to hear of, as SQL of both engines.

/** One that is muted arrives in the archive. */
export const arrivalType = `case when n.away = 'archived' and n.changed_version is null then 'archived'
    when n.count > 1 then 'replaced' else 'created' end`

/** The last branches of a `case`. `isUnread`: an expression. */
export const laterType = (isUnread: string) => `when n.away is not null then n.away
      when ${isUnread} then 'unread'
      when n.away_at is not null then 'unarchived'
      else 'read'`
