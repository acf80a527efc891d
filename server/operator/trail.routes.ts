import { Readable } from 'node:stream'
import { listAudit, record } from '../audit/audit.store.ts'
import { deviceLabel, recorded } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { yieldToEventLoop } from '../basics/event-loop.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { findUser } from '../users/users.store.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, sendVisible, usersOf, visible } from './operator.ts'

type Filter = { user?: string; event?: string; actor?: string; since?: string }

/** A filter that finds less than a page continues from `next`. */
const maxExamined = 10_000
const pageSize = 500
const maxExported = 1_000_000

export const list = forOperator({
  summary: 'The audit log, newest first, or what a filter finds in it',
  query: shapes.TrailQuery,
  responses: { 200: shapes.TrailResponse },
  async handle({ store }: OperatorNeeds, request, reply) {
    const { limit = 20, after, ...filter } = request.query
    const found: AuditEntry[] = []
    let last = after
    let examined = 0
    for await (const page of pagesOf(store, filter, after)) {
      for (const entry of page) {
        if (found.length === limit) return sendVisible(reply, await shown(store, found, last))
        last = entry.id
        if (isWanted(entry, filter)) found.push(entry)
      }
      examined += page.length
      if (examined >= maxExamined) return sendVisible(reply, await shown(store, found, last))
    }
    return sendVisible(reply, await shown(store, found, undefined))
  },
})

export const exportLines = forOperator({
  summary:
    'The entries of the audit log that a filter finds, one JSON object per line, newest first',
  query: shapes.ExportQuery,
  responses: { 200: 'lines' },
  async handle(needs: OperatorNeeds, request, reply) {
    const { query, method } = request
    const entry = recorded(usersOf(needs, request), {
      event: 'audit-exported',
      detail: { ...query },
    })
    if (method !== 'HEAD') await needs.store.write(record, entry.audit)
    const lines = method === 'HEAD' ? [] : linesOf(needs.store, query)
    reply
      .header('content-disposition', 'attachment; filename="carillon-audit.jsonl"')
      .type('application/x-ndjson')
    return reply.send(Readable.from(lines, { objectMode: false }))
  },
})

async function* linesOf(store: Store, filter: Filter): AsyncGenerator<string> {
  let count = 0
  for await (const page of pagesOf(store, filter)) {
    const lines = page
      .filter((entry) => isWanted(entry, filter))
      .map((entry) => ({ ...entry, at: iso(entry.at) }))
    if (lines.length > 0)
      yield `${lines.map((line) => JSON.stringify(line, (_, value) => visible(value))).join('\n')}\n`
    count += page.length
    if (count >= maxExported) return
  }
}

async function* pagesOf(
  store: Store,
  { user, since }: Filter,
  after?: string,
): AsyncGenerator<AuditEntry[]> {
  const query = {
    ...(user && { userId: user }),
    since: since === undefined ? 0 : Date.parse(since),
    limit: pageSize,
  }
  let before = after
  for (;;) {
    const page = await store.read(listAudit, { ...query, before })
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

async function shown(store: Store, entries: readonly AuditEntry[], next: string | undefined) {
  const names = new Map<string, string | null>()
  for (const userId of new Set(entries.flatMap((entry) => entry.userId ?? []))) {
    const user = await store.read(findUser, userId)
    names.set(userId, user?.username ?? user?.externalId ?? null)
  }
  const items = entries.map(
    ({ id, at, event, actor, userId, address, userAgent, count, detail }) => {
      const { settings: _, ...facts } = detail ?? {}
      const device = deviceLabel(userAgent)
      const name = names.get(userId ?? '') ?? null
      return {
        id,
        at: iso(at),
        event,
        actor,
        userId,
        name,
        address,
        device,
        count,
        detail: detail && facts,
      }
    },
  )
  return { items, next: next ?? null }
}
