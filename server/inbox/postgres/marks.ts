// functions/mark-together.sql changes notifications of several callers. Rare changes run alone:
// possible security notices, second deletes, large or partial read-alls, Citus.
import { iso } from '../../basics/clock.ts'
import type { Database } from '../../store/postgres/connection/connection.ts'
import { alone, type Together } from '../../store/postgres/connection/gathering.ts'
import type { MarkAllRead, OneNotification, Rest } from '../inbox-state.ts'

type OfOne = 'read' | 'unread' | 'archive' | 'unarchive' | 'snooze' | 'delete'
type Times = { at?: number; until?: number }
type Mark = { kind: OfOne | 'all'; userId: string; id: string | null; throughSeq?: number } & Times
type Outcome = 'done' | 'absent'

export const changeTogether = (kind: OfOne) => (db: Database, change: OneNotification & Times) =>
  mark(db, { ...change, kind })

export async function markAllReadTogether(
  db: Database,
  change: MarkAllRead & { rest?: Rest | undefined },
): Promise<Outcome | typeof alone> {
  const { throughId: id, categories, rest, ...more } = change
  return categories === undefined && rest === undefined
    ? mark(db, { ...more, id, kind: 'all' })
    : alone
}

async function mark(db: Database, one: Mark): Promise<Outcome | typeof alone> {
  const outcome = await db.together(marksTogether, one)
  if (outcome === 'done') db.changeSignals.send({ about: 'inbox', userId: one.userId })
  return outcome === 'unchanged' ? 'done' : outcome
}

const marksTogether: Together<Mark, Outcome | 'unchanged'> = {
  async run(read, marks) {
    const rows = await read('markTogether', 'select mark_together($1, $2, $3, $4, $5, $6)', [
      marks.map(({ kind }) => kind),
      marks.map(({ userId }) => userId),
      marks.map(({ id }) => id),
      marks.map(({ throughSeq }) => throughSeq?.toString() ?? null),
      marks.map(({ at }) => isoOrNull(at)),
      marks.map(({ until }) => isoOrNull(until)),
    ])
    const answers = rows[0]?.[0] as unknown as readonly (Outcome | 'unchanged' | null)[]
    return answers.map((answer) => answer ?? alone)
  },
  // A read-all changes up to 100 rows.
  weightOf: ({ kind }) => (kind === 'all' ? 20 : 1),
  keyOf: () => undefined,
}

function isoOrNull(time: number | undefined): string | null {
  return time === undefined ? null : iso(time)
}
