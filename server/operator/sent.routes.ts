import { notFound } from '../basics/errors.ts'
import { yieldToEventLoop } from '../basics/event-loop.ts'
import { firstIdAt, madeAt } from '../basics/ids.ts'
import { inboxesOf } from '../delivery/by-key.store.ts'
import { type ByKey, changeByKey } from '../delivery/by-key.ts'
import {
  type Explained,
  explainNotification,
  isMutedOnArrival,
} from '../inbox/examined/explain.store.ts'
import type { Store } from '../store/store.ts'
import { namesOf } from '../users/display-user.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, recordAct, sendVisible } from './operator.ts'
import { countByKey, type HeardRow, heardBetween, ownerOf } from './sent.store.ts'

const maxHeard = 10_000
const heardMs = 30 * 24 * 3_600_000

export const explain = forOperator({
  summary: 'What happened to one notification: sent, seen, read, archived, snoozed, muted, removed',
  query: shapes.ExplainQuery,
  responses: { 200: shapes.ExplainedResponse },
  async handle({ store }: OperatorNeeds, request, reply) {
    const id = request.params.id.toLowerCase()
    const userId = request.query.user?.toLowerCase() ?? (await store.read(ownerOf, id))
    const found =
      userId === undefined ? undefined : await store.read(explainNotification, { userId, id })
    if (userId === undefined || found === undefined)
      throw notFound('No inbox has this notification', 'If it was removed, name the user, too.')
    const name = (await namesOf(store, [userId])).get(userId) ?? null
    const facts = 'reason' in found ? found : displayed(found)
    return sendVisible(reply, { id, userId, name, ...facts })
  },
})

function displayed(found: Explained) {
  const { seq, seenThrough, ...facts } = found
  return { ...facts, seen: seq <= seenThrough, isMuted: isMutedOnArrival(found) }
}

export const byKey = forOperator({
  summary: 'How many inboxes have the notifications with a key, and what became of them',
  query: shapes.ByKeyQuery,
  responses: { 200: shapes.SentByKeyResponse },
  async handle({ store }: OperatorNeeds, request, reply) {
    const keyed = { key: request.params.key, application: request.query.application ?? '' }
    const { inboxes, sentAt } = await store.read(inboxesOf, keyed)
    if (inboxes === 0) throw notFound('No inbox has a notification with this key')
    return sendVisible(reply, { inboxes, sentAt, counts: await store.read(countByKey, keyed) })
  },
})

export const withdraw = forOperator({
  summary: 'Withdraw the notifications with a key from every inbox of the application',
  query: shapes.ByKeyQuery,
  responses: { 200: shapes.WithdrawnResponse },
  async handle(needs: OperatorNeeds & { byKey: ByKey }, request, reply) {
    const keyed = { key: request.params.key, application: request.query.application ?? '' }
    const change = { ...keyed, kind: 'delete', given: null, producerId: 'carillon' } as const
    const withdrawn = await changeByKey(needs.byKey, change)
    const detail = { ...keyed, inboxes: withdrawn.inboxes }
    await recordAct(needs, request, { event: 'notifications-withdrawn', detail })
    return sendVisible(reply, withdrawn)
  },
})

export const heard = forOperator({
  summary:
    'Are we heard? Of the newest notifications of 30 days: delivered, muted, seen, read, by producer and category; and a sample of each age',
  responses: { 200: shapes.HeardResponse },
  async handle({ store, users }: OperatorNeeds, _, reply) {
    const now = users.now()
    const from = firstIdAt(now - heardMs)
    const rows: HeardRow[] = []
    let before = 'g'
    let examined = 0
    while (examined < maxHeard) {
      const { rows: some, last } = await store.read(heardBetween, { from, before })
      if (last === null) break
      rows.push(...some)
      examined = rows.reduce((sum, row) => sum + row.delivered, 0)
      before = last
      await yieldToEventLoop()
    }
    const since = examined === 0 ? null : madeAt(before)
    const items = summed(rows, ['producer', 'category'])
    return sendVisible(reply, { since, examined, items, ages: await byAge(store, now) })
  },
})

/** Seconds: the ends of sampled spans, about equal on a logarithmic axis. */
const ages = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 28_800, 86_400, 259_200, 604_800, 2_592_000]
const maxCategories = 8

async function byAge(store: Store, now: number) {
  const rows: (HeardRow & { age: number })[] = []
  let before = firstIdAt(now)
  for (const age of ages) {
    const from = firstIdAt(now - age * 1_000)
    const read = await store.read(heardBetween, { from, before })
    rows.push(...summed(read.rows, ['category']).map((row) => ({ ...row, age })))
    before = from
    await yieldToEventLoop()
  }
  return summed(rows, ['category'])
    .slice(0, maxCategories)
    .flatMap(({ category }) => rows.filter((row) => row.category === category))
    .map(({ producer: _, ...row }) => row)
}

function summed(
  rows: readonly HeardRow[],
  names: readonly ('producer' | 'category')[],
): HeardRow[] {
  const all = new Map<string, HeardRow>()
  for (const row of rows) {
    const key = JSON.stringify(names.map((name) => row[name]))
    const sum = all.get(key)
    if (sum === undefined) all.set(key, { ...row })
    else
      for (const name of ['delivered', 'seen', 'read', 'archived', 'muted'] as const)
        sum[name] += row[name]
  }
  return [...all.values()].toSorted((one, other) => other.delivered - one.delivered)
}
