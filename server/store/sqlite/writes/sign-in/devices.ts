// The devices that a user has signed in from, by label and network.
import type { Familiarity, SeenDevice } from '../../../store.ts'
import type { WriteContext } from '../context.ts'

type Sql = WriteContext['sql']
type Note = { userId: string; device: SeenDevice; at: number }

export function noteDeviceOf(sql: Sql, { userId, device, at }: Note): Familiarity {
  const { label, network, isKnown, keep } = device
  const { changes } = sql.run`
    update known_device set last_seen_at = max(last_seen_at, ${at})
    where user_id = ${userId} and label = ${label} and network = ${network}`
  if (changes === 1) return 'known'
  const isFirst = sql.get`select 1 from known_device where user_id = ${userId} limit 1` === undefined
  if (!isFirst && !isKnown) return 'new'
  sql.run`
    insert into known_device (user_id, label, network, first_seen_at, last_seen_at)
    values (${userId}, ${label}, ${network}, ${at}, ${at})`
  sql.run`
    delete from known_device where user_id = ${userId} and (label, network) in (
      select label, network from known_device where user_id = ${userId}
      order by last_seen_at desc, first_seen_at desc, label, network limit -1 offset ${keep})`
  return isKnown ? 'known' : 'first'
}

export function forgetDevices(sql: Sql, userId: string): void {
  sql.run`delete from known_device where user_id = ${userId}`
}
