import { firstIdAt } from '../basics/ids.ts'
import { all, type Read } from '../store/statements.ts'

/** Refused and delayed sign-ins of each hour since 1970 with any, from `from` on, before `to`. */
export function* refusalsByHour({
  from,
  to,
}: {
  from: number
  to: number
}): Read<{ hour: number; refusals: number }[]> {
  return yield* all`
    select hour, cast(sum(count) as bigint) as refusals from hourly
    where hour >= ${from} and hour < ${to} and name in ('sign-ins-refused', 'sign-ins-delayed') group by hour order by hour`
}

/** One look examines so many of the newest audit entries, in about 10 ms on SQLite. */
const examined = 5_000

/** The 20 addresses with the most refusals among the newest 5,000 entries since a time. */
export function* refusalsByAddress(since: number): Read<{ address: string; refusals: number }[]> {
  return yield* all`
    select address, cast(sum(count) as bigint) as refusals from
      (select address, count, event from audit where id >= ${firstIdAt(since)} order by id desc limit ${examined}) newest
    where event = 'sign-in-refused' and address is not null group by address order by refusals desc, address limit 20`
}
