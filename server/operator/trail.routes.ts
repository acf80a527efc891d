import { Readable } from 'node:stream'
import { listAudit } from '../audit/audit.store.ts'
import { deviceLabel } from '../audit/entry.ts'
import { parseTime } from '../basics/clock.ts'
import { invalidField } from '../basics/errors.ts'
import { yieldToEventLoop } from '../basics/event-loop.ts'
import { firstIdAt } from '../basics/ids.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { namesOf } from '../users/display-user.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, recordAct, sendVisible, visibleJson } from './operator.ts'

type Query = { user?: string; event?: string; actor?: string; since?: string; until?: string }
type Filter = Pick<Query, 'user' | 'event' | 'actor'> & { since: number; before?: string }

function filterOf({ since, until, ...filter }: Query): Filter {
  return {
    ...filter,
    since: since === undefined ? 0 : timeIn('since', since),
    ...(until !== undefined && { before: firstIdAt(timeIn('until', until)) }),
  }
}

/** RFC 3339 has leap seconds. */
function timeIn(field: string, text: string): number {
  const at = parseTime(text)
  if (Number.isNaN(at)) throw invalidField(field, 'must be a time')
  return at
}

/** If a filter finds less than a page, `next` continues. */
const maxExamined = 10_000
const pageSize = 500
const maxExported = 1_000_000

export const list = forOperator({
  summary: 'The audit log, newest first, or what a filter finds in it',
  query: shapes.TrailQuery,
  responses: { 200: shapes.TrailResponse },
  async handle({ store }: OperatorNeeds, request, reply) {
    const { limit = 20, after, ...query } = request.query
    const filter = filterOf(query)
    const found: AuditEntry[] = []
    let next: string | null = null
    let examined = 0
    for await (const page of pagesOf(store, filter, after)) {
      found.push(...page.filter((entry) => isWanted(entry, filter)))
      examined += page.length
      if (found.length <= limit && examined < maxExamined) continue
      next = (found.length > limit ? found[limit - 1] : page.at(-1))?.id ?? null
      break
    }
    const entries = found.slice(0, limit)
    const names = await namesOf(
      store,
      entries.flatMap(({ userId }) => userId ?? []),
    )
    return sendVisible(reply, { items: entries.map((entry) => displayed(entry, names)), next })
  },
})

function displayed(entry: AuditEntry, names: ReadonlyMap<string, string>) {
  const { id, at, event, actor, userId, address, userAgent, count, detail } = entry
  const { settings: _, ...facts } = detail ?? {}
  return {
    id,
    at,
    event,
    actor,
    userId,
    name: names.get(userId ?? '') ?? null,
    address,
    device: deviceLabel(userAgent),
    count,
    detail: detail && facts,
  }
}

const spans = 60
/** About 100 ms on SQLite. */
const maxCounted = 5_000
const monthMs = 30 * 24 * 3_600_000

export const counts = forOperator({
  summary:
    'How many of the newest entries that a filter finds are in each of 60 equal spans of time',
  query: shapes.ExportQuery,
  responses: { 200: shapes.TrailCountsResponse },
  async handle({ store, users }: OperatorNeeds, { query }, reply) {
    const until = query.until === undefined ? users.now() : timeIn('until', query.until)
    const filter = filterOf(query)
    let since = filter.since || until - monthMs
    const entries: AuditEntry[] = []
    for await (const page of pagesOf(store, { ...filter, since })) {
      entries.push(...page)
      if (entries.length < maxCounted) continue
      since = page.at(-1)?.at ?? since
      break
    }
    const spanMs = Math.max(1, (until - since) / spans)
    const counted = new Array<number>(spans).fill(0)
    for (const { at } of entries.filter((entry) => isWanted(entry, filter))) {
      const span = Math.min(spans - 1, Math.max(0, Math.floor((at - since) / spanMs)))
      counted[span] = (counted[span] ?? 0) + 1
    }
    return sendVisible(reply, {
      since,
      until,
      counts: counted,
      events: [...new Set(entries.map(({ event }) => event))].sort(),
      examined: entries.length,
    })
  },
})

export const exportLines = forOperator({
  summary:
    'The entries of the audit log that a filter finds, one JSON object per line, newest first',
  query: shapes.ExportQuery,
  responses: { 200: 'lines' },
  async handle(needs: OperatorNeeds, request, reply) {
    const { query } = request
    const filter = filterOf(query)
    const isRead = request.method !== 'HEAD'
    if (isRead) await recordAct(needs, request, { event: 'audit-exported', detail: { ...query } })
    reply
      .header('content-disposition', 'attachment; filename="carillon-audit.jsonl"')
      .type('application/x-ndjson')
    const lines = isRead ? linesOf(needs.store, filter) : []
    return reply.send(Readable.from(lines, { objectMode: false }))
  },
})

async function* linesOf(store: Store, filter: Filter): AsyncGenerator<string> {
  let count = 0
  for await (const page of pagesOf(store, filter)) {
    const lines = page.filter((entry) => isWanted(entry, filter)).map(visibleJson)
    if (lines.length > 0) yield `${lines.join('\n')}\n`
    count += page.length
    if (count >= maxExported) return
  }
}

async function* pagesOf(
  store: Store,
  { user, since, before: end }: Filter,
  after?: string,
): AsyncGenerator<AuditEntry[]> {
  const about = { ...(user && { userId: user }), since, limit: pageSize }
  let before = after ?? end
  for (;;) {
    const page = await store.read(listAudit, { ...about, before })
    yield page
    if (page.length < pageSize) return
    before = page.at(-1)?.id
    await yieldToEventLoop()
  }
}

function isWanted({ event, actor }: AuditEntry, filter: Filter): boolean {
  return (
    (filter.event === undefined || event === filter.event) && actor.startsWith(filter.actor ?? '')
  )
}
