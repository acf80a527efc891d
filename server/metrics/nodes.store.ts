import { all, type Read, send, type Write } from '../store/statements.ts'

/** `facts`: JSON of `NodeFacts`. */
type NodeRow = { id: string; name: string; seenAt: number; facts: string }
/** `settings`: without secrets. */
export type NodeFacts = {
  settings: Readonly<Record<string, unknown>>
  streams: readonly Held[]
}
export type Held = { userId: string; streams: number }

/** A process that was silent for this long was killed. */
export const nodeLivesMs = 6 * 60_000

/** Also removes rows of killed processes. */
export function* putNode({ id, name, seenAt, facts }: NodeRow): Write<void> {
  yield* send`delete from node where seen_at < ${seenAt - nodeLivesMs}`
  yield* send`
    insert into node (id, name, seen_at, facts) values (${id}, ${name}, ${seenAt}, ${facts})
    on conflict (id) do update set seen_at = excluded.seen_at, facts = excluded.facts`
}

export function* removeNode(id: string): Write<void> {
  yield* send`delete from node where id = ${id}`
}

/** The ten users with the most, on all nodes. */
export function* mostStreams(now: number): Read<Held[]> {
  const rows = yield* all<{
    facts: string
  }>`select facts from node where seen_at >= ${now - nodeLivesMs}`
  const byUser = new Map<string, number>()
  for (const { facts } of rows)
    for (const { userId, streams } of (JSON.parse(facts) as NodeFacts).streams)
      byUser.set(userId, (byUser.get(userId) ?? 0) + streams)
  return [...byUser]
    .map(([userId, streams]) => ({ userId, streams }))
    .sort((one, other) => other.streams - one.streams)
    .slice(0, 10)
}
