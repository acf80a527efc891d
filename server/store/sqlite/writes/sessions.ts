// Adds, touches, ends and removes sessions. Each write runs in the writer thread's transaction.
import type { EndedSession, Input, SessionKey } from '../../store.ts'
import type { WriteContext } from './context.ts'

export function addSession(context: WriteContext, session: Input<'addSession'>): 'added' | 'refused' {
  const { changes } = context.sql.run`
    insert into session (user_id, secret_hash, username, created_at, last_seen_at)
    select id, ${session.secretHash}, username, ${session.at}, ${session.at} from user
    where id = ${session.userId} and disabled_at is null and password_hash = ${session.checkedPasswordHash}`
  if (changes === 0) return 'refused'
  endSessions(context, session.replaces)
  return 'added'
}

export function touchSession({ sql }: WriteContext, { userId, secretHash, at }: Input<'touchSession'>): void {
  sql.run`
    update session set last_seen_at = max(last_seen_at, ${at})
    where user_id = ${userId} and secret_hash = ${secretHash}`
}

export function endSessions(context: WriteContext, keys: readonly SessionKey[]): EndedSession[] {
  return keys.map((key) => endSession(context, key)).filter((ended) => ended !== undefined)
}

function endSession({ sql, signal }: WriteContext, { userId, secretHash }: SessionKey): EndedSession | undefined {
  const ended = sql.get`
    delete from session where user_id = ${userId} and secret_hash = ${secretHash}
    returning user_id as "userId", username, created_at as "createdAt", last_seen_at as "lastSeenAt"`
  if (ended !== undefined) signal({ about: 'session', userId })
  return ended as EndedSession | undefined
}

export function removeStaleSessions({ sql }: WriteContext, bounds: Input<'removeStaleSessions'>): void {
  sql.run`
    delete from session
    where created_at < ${bounds.createdBefore} or last_seen_at < ${bounds.lastSeenBefore}
      or last_seen_at > ${bounds.lastSeenAfter}`
}
