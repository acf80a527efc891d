// Marks on PostgreSQL. Concurrent ones are written together, by functions/mark-together.sql, and one alone by the same. What is rare runs
// alone as on SQLite (marks.store.ts): what a read-all covered, a read-all that leaves something unread or has categories, Citus.
import { iso } from '../../basics/clock.ts'
import type { Database } from '../../store/postgres/connection/connection.ts'
import { alone, type Together } from '../../store/postgres/connection/gathering.ts'
import type { MarkAllRead, MarkRead, OneNotification } from '../inbox-state.ts'

type Mark = { kind: 'read' | 'unread' | 'all'; userId: string; id: string | null; throughSeq?: number; at?: number }
type Outcome = 'done' | 'absent'

export const markReadTogether = (db: Database, change: MarkRead) => mark(db, { ...change, kind: 'read' })
export const markUnreadTogether = (db: Database, change: OneNotification) => mark(db, { ...change, kind: 'unread' })

export async function markAllReadTogether(db: Database, change: MarkAllRead): Promise<Outcome | typeof alone> {
  const { throughId: id, categories, ...more } = change
  return categories === undefined ? mark(db, { ...more, id, kind: 'all' }) : alone
}

async function mark(db: Database, one: Mark): Promise<Outcome | typeof alone> {
  const outcome = await db.together(marksTogether, one)
  if (outcome === 'done') db.changeSignals.send({ about: 'inbox', userId: one.userId })
  return outcome === 'unchanged' ? 'done' : outcome
}

/** 'unchanged' is success, too, but nothing is signalled. */
const marksTogether: Together<Mark, Outcome | 'unchanged'> = {
  async run(read, marks) {
    const rows = await read('markTogether', 'select mark_together($1, $2, $3, $4, $5)', [
      marks.map(({ kind }) => kind),
      marks.map(({ userId }) => userId),
      marks.map(({ id }) => id),
      marks.map(({ throughSeq }) => throughSeq?.toString() ?? null),
      marks.map(({ at }) => (at === undefined ? null : iso(at))),
    ])
    const answers = rows[0]?.[0] as unknown as readonly (Outcome | 'unchanged' | null)[]
    return answers.map((answer) => answer ?? alone)
  },
  weightOf: () => 1,
  keyOf: () => undefined,
}
