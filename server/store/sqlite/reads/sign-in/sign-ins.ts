// Lists the sign-ins of a user that are alive: sessions, and stateless sign-ins of the audit log.
import { firstIdAt } from '../../../../ids.ts'
import type { Input, ListedSignIn } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

export const signInsOfUser = `
  select sign_in_id as "signInId", variant, created_at as "createdAt",
    last_seen_at as "lastSeenAt", device, user_agent as "userAgent", address
  from (
    select sign_in_id, 'stateful' as variant, created_at, last_seen_at, device, null as user_agent, address
    from session
    where user_id = ?1 and created_at > ?4 and last_seen_at > ?5 and last_seen_at <= ?6
    union all
    select a.sign_in_id, 'stateless', min(a.at) filter (where a.event = 'sign-in'), max(a.at), null,
      max(a.user_agent) filter (where a.event = 'sign-in'), max(a.address) filter (where a.event = 'sign-in')
    from audit a join user u on u.id = a.user_id
    where a.user_id = ?1 and a.id >= ?7 and a.sign_in_id is not null
      and not exists (select 1 from token_cutoff c where c.user_id = ?1 and c.sign_in_id = a.sign_in_id)
    group by a.sign_in_id
    having max(a.event = 'sign-in' and a.detail ->> 'variant' = 'stateless' and (
        a.detail ->> 'generation' = u.credential_generation
        or exists (select 1 from token_cutoff c
          where c.user_id = ?1 and c.sign_in_id = '' and c.except_sign_in_id = a.sign_in_id))) = 1
      and max(a.event in ('sign-out', 'session-ended', 'sign-in-disowned')) = 0
  )
  where sign_in_id < ?3 and (?3 = 'g' or sign_in_id <> ?2)
  order by sign_in_id = ?2 desc, sign_in_id desc limit +?8`

export async function listSignIns(reader: Reader, query: Input<'listSignIns'>): Promise<ListedSignIn[]> {
  const { userId, ownSignInId, after = 'g', limit } = query
  const { createdAfter, lastSeenAfter, lastSeenUntil } = query.alive.sessions
  const values = [createdAfter, lastSeenAfter, lastSeenUntil, firstIdAt(query.alive.tokensSince), limit]
  return reader.objects<ListedSignIn>(signInsOfUser, userId, ownSignInId, after, ...values)
}
