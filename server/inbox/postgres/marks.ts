// Marks on PostgreSQL. Concurrent ones are written together, by functions/mark-together.sql, and one alone by the same. What is rare runs
// alone as on SQLite (marks.store.ts): what a read-all covered, a read-all that leaves something unread or has categories, Citus.
import { iso } from '../../basics/times.ts'
import type { Database, Together } from '../../store/postgres/connection/connection.ts'
import { alone } from '../../store/postgres/connection/gathering.ts'
import type { Write } from '../../store/statements/statements.ts'
import type { Input } from '../../store/store.ts'
import { markWrites } from '../marks.store.ts'

type Mark = { kind: 'read' | 'unread' | 'all'; userId: string; id: string | null; throughSeq?: number; at?: number }
type Outcome = 'done' | 'absent'

export async function markRead(db: Database, change: Input<'markRead'>): Promise<Outcome> {
  return mark(db, { ...change, kind: 'read' }, () => markWrites.markRead(change))
}

export async function markUnread(db: Database, change: Input<'markUnread'>): Promise<Outcome> {
  return mark(db, { ...change, kind: 'unread' }, () => markWrites.markUnread(change))
}

export async function markAllRead(db: Database, change: Input<'markAllRead'>): Promise<Outcome> {
  const { throughId: id, categories, ...more } = change
  const runAlone = () => markWrites.markAllRead(change)
  return categories === undefined ? mark(db, { ...more, id, kind: 'all' }, runAlone) : db.write(runAlone)
}

async function mark(db: Database, one: Mark, runAlone: () => Write<Outcome>): Promise<Outcome> {
  const outcome = db.isDistributed ? alone : await db.together(marksTogether, one)
  if (outcome === alone) return db.write(runAlone)
  if (outcome === 'done') db.changeSignals.send({ about: 'inbox', userId: one.userId })
  return outcome === 'absent' ? 'absent' : 'done'
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
