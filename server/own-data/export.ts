// Page, API and command share these lines.
import type { ServerResponse } from 'node:http'
import { displayActivity } from '../audit/activity.ts'
import { listAudit } from '../audit/audit.store.ts'
import { iso } from '../basics/clock.ts'
import { escapeControls } from '../basics/control-characters.ts'
import { CarillonError, overloaded } from '../basics/errors.ts'
import { yieldToEventLoop } from '../basics/event-loop.ts'
import { streams } from '../http/connections.ts'
import { onGone } from '../http/response/send.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { displayAccount } from '../users/display-user.ts'
import type { User } from '../users/users.store.ts'
import { notificationsAfter, recordsOf } from './export.store.ts'

const pageSize = 100

/** A notification may be there twice if it is sent again meanwhile. */
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
    // A fast client must not hold the event loop.
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

const maxExports = 4
/** Then another export gets the place: no slow or stolen one keeps it. */
const placeMs = 30_000

export class Exports {
  readonly #running = new Set<{ userId: string; since: number; response: ServerResponse }>()

  /** The client of an export may read as slowly as that of a stream. */
  begin(userId: string, response: ServerResponse, since: number): void {
    const running = this.#running
    const own = running.values().find((one) => one.userId === userId)
    const [oldest] = running.size < maxExports ? [] : running
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
    running.add(begun)
    const { socket } = response.req
    streams.add(socket)
    socket.setTimeout(0)
    onGone(response, () => {
      running.delete(begun)
      streams.delete(socket)
    })
  }
}
