// Page, API and command have the same lines.
import { displayActivity } from '../audit/activity.ts'
import { listAudit } from '../audit/audit.store.ts'
import { iso } from '../basics/clock.ts'
import { escapeControls } from '../basics/control-characters.ts'
import { yieldToEventLoop } from '../basics/event-loop.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { displayAccount } from '../users/display-user.ts'
import type { User } from '../users/users.store.ts'
import { notificationsAfter, recordsOf } from './export.store.ts'

const pageSize = 100

/** A notification that is sent again meanwhile may be there twice. */
export async function* exportOf({ store }: { store: Store }, user: User): AsyncGenerator<string> {
  const { id: userId } = user
  yield linesOf('user', [displayAccount(user)])
  for (const [type, rows] of Object.entries(await store.read(recordsOf, userId)))
    if (rows.length > 0) yield linesOf(type, rows)
  const entriesAfter = (last?: AuditEntry) =>
    store.read(listAudit, { userId, limit: pageSize, before: last?.id })
  for await (const entries of pagesOf(entriesAfter))
    yield linesOf('activity', entries.map(displayActivity))
  const textsAfter = (last?: { seq: number }) =>
    store.read(notificationsAfter, { userId, seq: last?.seq ?? 0 })
  for await (const rows of pagesOf(textsAfter))
    yield rows
      .map(({ text }) => escapeControls(`{"type":"notification",${text.slice(1)}\n`))
      .join('')
}

async function* pagesOf<Row>(readAfter: (last?: Row) => Promise<Row[]>): AsyncGenerator<Row[]> {
  let page = await readAfter()
  while (page.length > 0) {
    yield page
    // A client that takes everything at once must not hold the event loop.
    await yieldToEventLoop()
    page = await readAfter(page.at(-1))
  }
}

function linesOf(type: string, rows: readonly object[]): string {
  return rows
    .map((row) => escapeControls(`${JSON.stringify({ type, ...row }, withTimes)}\n`))
    .join('')
}

function withTimes(name: string, value: unknown): unknown {
  return name.endsWith('At') && typeof value === 'number' ? iso(value) : value
}
