import { madeAt } from '../basics/ids.ts'
import { all, lock, type Read, send, type Write } from '../store/statements.ts'

const maxAheadMs = 7 * 24 * 3_600_000
const heldMs = 3_600_000

type TimeSeen = { seenAt: number; heldUntil?: number }

/**
 * While the clock is over seven days ahead of what any process saw, nothing is removed by age for
 * an hour, over restarts too.
 */
export function* seeTime({
  at,
  newestAt = at,
}: {
  at: number
  newestAt?: number | undefined
}): Write<TimeSeen> {
  const last = yield* lock<{ seenAt: number | null; heldSince: number | null }>`
    select seen_at as "seenAt", held_since as "heldSince" from time_seen where id = 1`
  const seenAt = last?.seenAt ?? newestAt
  const heldSince = last?.heldSince ?? at
  const since = heldSince > at || at - heldSince > maxAheadMs ? at : heldSince
  if (at - seenAt <= maxAheadMs || at - since >= heldMs) {
    yield* send`update time_seen set seen_at = ${at}, held_since = null where id = 1`
    return { seenAt: at }
  }
  yield* send`update time_seen set seen_at = ${seenAt}, held_since = ${since} where id = 1`
  return { seenAt, heldUntil: since + heldMs }
}

export function* newestRowAt(): Read<number | undefined> {
  const rows = yield* all<{ id: string | null }>`
    select max(id) as id from notification union all select max(id) from audit`
  const newest = rows
    .map(({ id }) => id ?? '')
    .sort()
    .at(-1)
  return newest ? madeAt(newest) : undefined
}
