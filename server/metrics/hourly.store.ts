// Keeps each hour's numbers of all nodes: /operator and `carillon stats` need no Prometheus.
import { holderLock } from '../store/events.ts'
import { all, get, Part, type Read, rowsOf, send, type Write } from '../store/statements.ts'

/** `hour`: hours since 1970. `count`: 0 for a gauge. `max`: 0 for a counter. */
export type Hourly = { name: string; hour: number; count: number; max: number }

const larger = new Part('max(hourly.max, excluded.max)', 'greatest(hourly.max, excluded.max)')

/** Adds counts, keeps the larger maximum. Callers sort names, so that nodes do not deadlock. */
export function* addHourly(rows: readonly Hourly[]): Write<void> {
  yield* send`
    insert into hourly (hour, name, count, max)
    select cast(given.value ->> 'hour' as bigint), given.value ->> 'name', cast(given.value ->> 'count' as bigint),
      cast(given.value ->> 'max' as bigint)
    from ${rowsOf(rows)} where true
    on conflict (hour, name) do update set count = hourly.count + excluded.count, max = ${larger}`
}

export type Summed = Omit<Hourly, 'hour'>

export function* sumHourly({ from, to }: { from: number; to: number }): Read<Summed[]> {
  return yield* all<Summed>`
    select name, cast(sum(count) as bigint) as count, max(max) as max
    from hourly where hour >= ${from} and hour < ${to} group by name`
}

export function* removeOldHourly(hour: number): Write<void> {
  yield* send`delete from hourly where hour < ${hour}`
}

const databaseBytes = new Part(
  '(select page_count * page_size from pragma_page_count(), pragma_page_size())',
  'pg_database_size(current_database())',
)

/** Size in bytes, without the log; `waiting` outbox rows are to be sent. */
export function* sizeNow(): Read<{ bytes: number; waiting: number }> {
  const row = yield* get<{ bytes: number; waiting: number }>`
    select ${databaseBytes} as bytes, (select count(*) from outbox where kind <> 'event-to-read') as waiting`
  return row ?? { bytes: 0, waiting: 0 }
}

const nodes = new Part(
  '1',
  `(select greatest(count(*), 1) from pg_locks where locktype = 'advisory' and classid = ${holderLock} and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database()))`,
)

/** Counts processes; on SQLite there is one. */
export function* countNodes(): Read<number> {
  return (yield* get<{ nodes: number }>`select ${nodes} as nodes`)?.nodes ?? 1
}
