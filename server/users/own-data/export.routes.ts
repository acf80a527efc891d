// Everything that the service keeps of a user, without secrets. The page, the API and the command line have the same lines.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { displayActivity } from '../../audit/activity.routes.ts'
import { listAudit } from '../../audit/audit.store.ts'
import { iso } from '../../basics/clock.ts'
import { escapeControls } from '../../basics/control-characters.ts'
import { CarillonError, notAuthenticated, overloaded } from '../../basics/errors.ts'
import { yieldToEventLoop } from '../../basics/event-loop.ts'
import { streams } from '../../http/connections.ts'
import { type LongLivedCaller, operationFor } from '../../http/operation.ts'
import { onGone } from '../../http/response/send.ts'
import { failurePage, type PageNeeds } from '../../pages/page.ts'
import type { AuditEntry } from '../../store/events.ts'
import type { Store } from '../../store/store.ts'
import { displayAccount } from '../display-user.ts'
import type { User } from '../users.store.ts'
import { findEnabledUser } from '../users.ts'
import { notificationsAfter, recordsOf } from './export.store.ts'

export const exportAll = operationFor<LongLivedCaller>()({
  summary: 'Everything that the service keeps of the signed-in user, one JSON object per line, without secrets',
  responses: { 200: 'lines' },
  takesPlace: true,
  refusals: ['TOO_MANY_REQUESTS'],
  // The account page leads a browser here.
  failurePage,
  async handle(dependencies: ExportNeeds, { caller, method }, reply) {
    const user = await findEnabledUser(dependencies, caller)
    if (method !== 'HEAD') begin(dependencies, user, reply)
    const lines = method === 'HEAD' ? [] : whenTaken(exportOf(dependencies, user), caller, reply.raw)
    reply.header('content-disposition', 'attachment; filename="carillon-export.jsonl"').type('application/x-ndjson')
    return reply.send(Readable.from(lines, { objectMode: false, highWaterMark: 1 }))
  },
})

/** `exports`: those in progress, in the order in which they began. */
type ExportNeeds = PageNeeds & {
  store: Store
  users: { now: () => number }
  exports: Set<{ userId: string; since: number; response: ServerResponse }>
}

const maxExports = 4
/** After this time an export gives its place to another one that needs it, so that no slow or stolen one keeps it. */
const placeMs = 30_000
const pageSize = 100

/** Counts the export until its response is over, and gives its client as much time to read as that of a stream. */
function begin({ exports, users }: ExportNeeds, { id: userId }: User, { raw: response }: FastifyReply): void {
  const since = users.now()
  const own = exports.values().find((one) => one.userId === userId)
  const [oldest] = exports.size < maxExports ? [] : exports
  const before = own ?? oldest
  if (before !== undefined && since < before.since + placeMs) {
    if (own === undefined) throw overloaded(`This process has ${maxExports} exports in progress`)
    throw new CarillonError('TOO_MANY_REQUESTS', 'An export of your data is in progress', {
      remedy: 'Wait until it is complete.',
      retryAfter: 5,
    })
  }
  before?.response.destroy()
  const begun = { userId, since, response }
  exports.add(begun)
  const { socket } = response.req
  streams.add(socket)
  socket.setTimeout(0)
  onGone(response, () => {
    exports.delete(begun)
    streams.delete(socket)
  })
}

/**
 * Reads no further page until the client has taken the one before, and sends none that was read after the proof had ended: then it throws,
 * which ends the connection.
 */
async function* whenTaken(
  pages: AsyncIterable<string>,
  { validUntil }: LongLivedCaller,
  response: ServerResponse,
): AsyncGenerator<string> {
  for await (const page of pages) {
    if ((await validUntil()) === null) throw notAuthenticated()
    yield page
    // The page is written in this turn.
    await nextTurn()
    if (response.writableNeedDrain) await once(response, 'drain')
  }
}

/** Whole lines, a page at a time. A notification that is sent again meanwhile is not missed, and may be there twice. */
export async function* exportOf({ store }: { store: Store }, user: User): AsyncGenerator<string> {
  const { id: userId } = user
  yield linesOf('user', [displayAccount(user)])
  for (const [type, rows] of Object.entries(await store.read(recordsOf, userId)))
    if (rows.length > 0) yield linesOf(type, rows)
  const entriesAfter = (last?: AuditEntry) => store.read(listAudit, { userId, limit: pageSize, before: last?.id })
  for await (const entries of pagesOf(entriesAfter)) yield linesOf('activity', entries.map(displayActivity))
  const textsAfter = (last?: { seq: number }) => store.read(notificationsAfter, { userId, seq: last?.seq ?? 0 })
  for await (const rows of pagesOf(textsAfter))
    yield rows.map(({ text }) => escapeControls(`{"type":"notification",${text.slice(1)}\n`)).join('')
}

async function* pagesOf<Row>(readAfter: (last?: Row) => Promise<Row[]>): AsyncGenerator<Row[]> {
  let page = await readAfter()
  while (page.length > 0) {
    yield page
    // A client that takes everything at once must not hold the event loop until the end.
    await yieldToEventLoop()
    page = await readAfter(page.at(-1))
  }
}

function linesOf(type: string, rows: readonly object[]): string {
  return rows.map((row) => escapeControls(`${JSON.stringify({ type, ...row }, withTimes)}\n`)).join('')
}

/** The times of rows are milliseconds. */
function withTimes(name: string, value: unknown): unknown {
  return name.endsWith('At') && typeof value === 'number' ? iso(value) : value
}
