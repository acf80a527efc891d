// No statement reads title, body, url or data.

import { userDigits } from '../inbox/user-key.ts'
import { all, get, idOfDigits, Part, type Read } from '../store/statements.ts'

/** Muted: archived when it arrived or was replaced. */
const muted = new Part(
  'n.archived_at is not null and (n.archived_at = n.created_at or n.archived_at = n.updated_at)',
)
const counts = new Part(`
  sum(case when n.seq <= i.seen_through then 1 else 0 end) as seen,
  sum(case when n.read_at is not null then 1 else 0 end) as read,
  sum(case when n.archived_at is not null then 1 else 0 end) as archived,
  sum(case when ${muted.sqlite} then 1 else 0 end) as muted`)

export type Counts = { seen: number; read: number; archived: number; muted: number }
const maxInboxes = 10_000

export function* countByKey({
  key,
  application,
}: {
  key: string
  application: string
}): Read<Counts> {
  const found = yield* get<Counts>`
    select ${counts} from
      (select * from notification where key = ${key} and application = ${application} limit ${maxInboxes}) n
      join inbox i on i.user_id = n.user_id`
  return found ?? { seen: 0, read: 0, archived: 0, muted: 0 }
}

export type HeardRow = Counts & {
  producer: string | null
  category: string | null
  delivered: number
}
/** About 10 ms on SQLite. */
const heardAtOnce = 1_000

/** The newest 1,000 notifications with ids from `from` on, before `before`. `last`: the oldest. */
export function* heardBetween({
  from,
  before,
}: {
  from: string
  before: string
}): Read<{ rows: HeardRow[]; last: string | null }> {
  const end = yield* get<{ last: string | null }>`
    select min(id) as last from (select id from notification where id >= ${from} and id < ${before}
      order by id desc limit ${heardAtOnce}) newest`
  const last = end?.last ?? null
  if (last === null) return { rows: [], last }
  const rows = yield* all<HeardRow>`
    select p.name as producer, n.category, count(*) as delivered, ${counts}
    from notification n join inbox i on i.user_id = n.user_id left join producer p on p.number = n.producer
    where n.id >= ${last} and n.id < ${before} group by p.name, n.category`
  return { rows, last }
}

export function* ownerOf(id: string): Read<string | undefined> {
  const found = yield* get<{
    digits: string
  }>`select ${userDigits} as digits from notification where id = ${id}`
  return found && idOfDigits(found.digits)
}
