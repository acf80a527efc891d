import * as t from '../http/openapi/schema.ts'
import { forUser } from '../http/operation.ts'
import { sendPageOf } from '../http/response/send.ts'
import type { Store } from '../store/store.ts'
import { actors, displayActivity, shownDetails } from './activity.ts'
import { listAudit } from './audit.store.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const deviceNote = 'From `userAgent`, such as `Firefox on Linux`; null if that says nothing'
const Activity = t.component('Activity', {
  id: t.id,
  at: t.time,
  event: t.example(t.string('Such as sign-in, sign-in-refused, password-changed'), 'sign-in'),
  actor: t.oneOf(actors, 'Who did it; user is a client, with or without a proof'),
  address: t.example(t.nullable(t.string('Of the client, if the actor is user')), '192.0.2.7'),
  userAgent: t.example(t.nullable(t.string()), firefox),
  device: t.example(t.nullable(t.string(deviceNote)), 'Firefox on Linux'),
  signInId: t.example(t.nullable(t.string()), t.exampleOf(t.id)),
  count: t.integer({
    minimum: 1,
    description: 'More than 1 for refusals that were counted together',
  }),
  detail: t.component('ActivityDetail', shownDetails),
})

export const list = forUser({
  summary: 'What happened to your account, newest first: sign-ins, refused ones, and changes',
  query: t.object(t.cursor),
  responses: { 200: t.dataOf(t.pageOf('ActivityPage', Activity)) },
  async handle({ store }: { store: Store }, request, reply) {
    const { userId } = request.caller
    const { limit = 20, after } = request.query
    const found = await store.read(listAudit, { userId, limit: limit + 1, before: after })
    return sendPageOf(reply, { found, limit, display: displayActivity })
  },
})
