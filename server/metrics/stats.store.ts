// These reads count whole tables, so only a command uses them.
import { userDigits } from '../inbox/user-key.ts'
import { all, idOfDigits, type Read } from '../store/statements.ts'

export function* rowsOfTables(): Read<{ name: string; rows: number }[]> {
  return yield* all`
    select 'notification' as name, count(*) as rows from notification
    union all select 'removal', count(*) from removal
    union all select 'delivery', count(*) from delivery
    union all select 'audit', count(*) from audit
    union all select 'session', count(*) from session
    union all select 'user', count(*) from "user"
    order by rows desc, name`
}

export function* largestInboxes(): Read<{ userId: string; notifications: number }[]> {
  const rows = yield* all<{ digits: string; notifications: number }>`
    select ${userDigits} as digits, total + archived + snoozed as notifications
    from inbox order by notifications desc, digits limit 10`
  return rows.map(({ digits, notifications }) => ({ userId: idOfDigits(digits), notifications }))
}

/** How many of the newest 20,000 notifications each producer sent; null for the service. */
export function* newestByProducer(): Read<{ producer: string | null; notifications: number }[]> {
  return yield* all`
    select p.name as producer, count(*) as notifications
    from (select producer from notification order by id desc limit 20000) n left join producer p on p.number = n.producer
    group by p.id, p.name order by notifications desc, producer`
}
