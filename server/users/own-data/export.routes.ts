// Everything that the service keeps of a user, without secrets. The page, the API and the command line have the same lines.
import { Readable } from 'node:stream'
import { displayActivity } from '../../audit/activity.routes.ts'
import { listAudit } from '../../audit/audit.store.ts'
import { iso } from '../../basics/clock.ts'
import { escapeControls } from '../../basics/control-characters.ts'
import { yieldToEventLoop } from '../../basics/event-loop.ts'
import { forUser } from '../../http/operation.ts'
import { failurePage, type PageNeeds } from '../../pages/page.ts'
import type { AuditEntry } from '../../store/events.ts'
import type { Store } from '../../store/store.ts'
import { displayAccount } from '../display-user.ts'
import type { User } from '../users.store.ts'
import { findEnabledUser } from '../users.ts'
import { notificationsAfter, recordsOf } from './export.store.ts'

export const exportAll = forUser({
  summary: 'Everything that the service keeps of the signed-in user, one JSON object per line, without secrets',
  responses: { 200: 'lines' },
  takesPlace: true,
  // The account page leads a browser here.
  failurePage,
  async handle(dependencies: { store: Store } & PageNeeds, { caller, method }, reply) {
    const user = await findEnabledUser(dependencies, caller)
    const lines = method === 'HEAD' ? [] : exportOf(dependencies, user)
    reply.header('content-disposition', 'attachment; filename="carillon-export.jsonl"').type('application/x-ndjson')
    return reply.send(Readable.from(lines, { objectMode: false }))
  },
})

const pageSize = 100

/** Whole lines, a page at a time. A notification that is sent again meanwhile is not missed, and may be there twice. */
export async function* exportOf({ store }: { store: Store }, user: User): AsyncGenerator<string> {
  const { id: userId } = user
  yield linesOf('user', [displayAccount(user)])
  for (const [type, rows] of Object.entries(await store.read(recordsOf, userId)))
    if (rows.length > 0) yield linesOf(type, rows)
  const entriesAfter = (last?: AuditEntry) => store.read(listAudit, { userId, limit: pageSize, before: last?.id })
  for await (const entries of pagesOf(entriesAfter)) yield linesOf('activity', entries.map(displayActivity))
  const textsAfter = (last?: { seq: number }) =>
    store.read(notificationsAfter, { userId, seq: last?.seq ?? 0, limit: pageSize })
  for await (const rows of pagesOf(textsAfter))
    yield rows.map(({ text }) => escapeControls(`{"type":"notification",${text.slice(1)}\n`)).join('')
}

async function* pagesOf<Row>(readAfter: (last?: Row) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let page = await readAfter(); page.length > 0; page = await readAfter(page.at(-1))) {
    yield page
    // A client that takes everything at once must not hold the event loop until the end.
    await yieldToEventLoop()
  }
}

function linesOf(type: string, rows: readonly object[]): string {
  return rows.map((row) => escapeControls(`${JSON.stringify({ type, ...row }, withTimes)}\n`)).join('')
}

/** The times of rows are milliseconds. */
function withTimes(name: string, value: unknown): unknown {
  return name.endsWith('At') && typeof value === 'number' ? iso(value) : value
}
