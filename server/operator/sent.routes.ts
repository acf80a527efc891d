import { notFound } from '../basics/errors.ts'
import { inboxesOf } from '../delivery/by-key.store.ts'
import { type ByKey, withdrawByKey } from '../delivery/by-key.ts'
import {
  type Explained,
  explainNotification,
  isMutedOnArrival,
} from '../inbox/examined/explain.store.ts'
import { namesOf } from '../users/display-user.ts'
import { heardByAge, heardSince } from './heard.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, sendVisible, usersOf } from './operator.ts'
import { countByKey, ownerOf } from './sent.store.ts'

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
    const withdrawn = await withdrawByKey(needs.byKey, keyed, usersOf(needs, request))
    return sendVisible(reply, withdrawn)
  },
})

export const heard = forOperator({
  summary:
    'Are we heard? Of the newest notifications of 30 days: delivered, muted, seen, read, by producer and category; and a sample of each age',
  responses: { 200: shapes.HeardResponse },
  async handle({ store, users }: OperatorNeeds, _, reply) {
    const now = users.now()
    return sendVisible(reply, {
      ...(await heardSince(store, now)),
      ages: await heardByAge(store, now),
    })
  },
})
