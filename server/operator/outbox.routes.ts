// No response has a notification's text.
import { recorded } from '../audit/entry.ts'
import { notFound } from '../basics/errors.ts'
import { displayedRow, dropFromOutbox, listOutbox, retryOutbox } from '../reach/outbox.store.ts'
import { namesOf } from '../users/display-user.ts'
import { listWebhooks, type Webhook } from '../webhooks/webhooks.store.ts'
import { displayedWebhook } from '../webhooks/webhooks.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, recordAct, sendVisible, usersOf } from './operator.ts'

const maxListed = 200

export const list = forOperator({
  summary: 'The mails, pushes and events that wait, the next one first, and the webhooks',
  responses: { 200: shapes.OutboxResponse },
  async handle({ store }: OperatorNeeds, _, reply) {
    const rows = await store.read(listOutbox, { limit: maxListed })
    const names = await namesOf(
      store,
      rows.map(({ ownerId }) => ownerId),
    )
    const waiting = rows.map((row) => {
      const { since: sinceAt, ...shown } = displayedRow(row)
      return { name: names.get(row.ownerId) ?? null, ...shown, sinceAt }
    })
    return sendVisible(reply, { waiting, webhooks: (await store.read(listWebhooks)).map(display) })
  },
})

function display(webhook: Webhook) {
  const { id, url, events, lastSuccessAt, failingSince, attempts, disabledAt } =
    displayedWebhook(webhook)
  return {
    id,
    application: webhook.application || null,
    // Some receivers' paths contain a secret.
    url: url && new URL(url).origin,
    events,
    outcome: attempts[0]?.outcome,
    lastSuccessAt,
    failingSinceAt: failingSince,
    disabledAt,
  }
}

export const retry = forOperator({
  summary: 'Let all that waits be sent now, or one row; events that a backend reads stay',
  body: shapes.OutboxRetry,
  responses: { 200: shapes.RetriedResponse },
  async handle(needs: OperatorNeeds, request, reply) {
    const { id } = request.body
    const at = needs.users.now()
    const retried = await needs.store.write(retryOutbox, {
      ids: id === undefined ? null : [id],
      at,
    })
    const detail = { id: id ?? 'all', count: retried }
    await recordAct(needs, request, { event: 'outbox-retried', detail })
    return sendVisible(reply, { retried })
  },
})

export const drop = forOperator({
  summary: 'Remove a mail, push or event that waits, unsent; the notification stays',
  async handle(needs: OperatorNeeds, request) {
    const { id } = request.params
    const entry = recorded(usersOf(needs, request), { event: 'outbox-dropped', detail: { id } })
    if ((await needs.store.write(dropFromOutbox, { ids: [id], ...entry })) === 0)
      throw notFound('No such row waits', 'It was sent, or is being sent.')
  },
})
