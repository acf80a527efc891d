// A user's activity: the entries of the audit log, as their user may see them.
import { iso } from '../basics/clock.ts'
import * as t from '../http/openapi/schema.ts'
import { forUser } from '../http/operation.ts'
import { sendPageOf } from '../http/response/send.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { listAudit } from './audit.store.ts'
import { deviceLabel } from './entry.ts'

const actors = ['user', 'application', 'operator', 'provider', 'service'] as const
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const deviceNote = 'From `userAgent`, such as `Firefox on Linux`; null if that says nothing'
/** Facts about the user's own proofs. Others, such as the id of a key or who ran a command, concern the operator alone. */
const shownDetails = {
  variant: t.optional(t.example(t.string(), 'stateful')),
  method: t.optional(t.example(t.string(), 'password')),
  code: t.optional(t.string()),
  fields: t.optional(t.string()),
}
const Activity = t.component('Activity', {
  id: t.id,
  at: t.time,
  event: t.example(t.string('Such as sign-in, sign-in-refused, password-changed'), 'sign-in'),
  actor: t.oneOf(actors, 'Who did it; user is a client, with or without a proof'),
  address: t.example(t.nullable(t.string('Of the client, if the actor is user')), '192.0.2.7'),
  userAgent: t.example(t.nullable(t.string()), firefox),
  device: t.example(t.nullable(t.string(deviceNote)), 'Firefox on Linux'),
  signInId: t.example(t.nullable(t.string()), t.exampleOf(t.id)),
  count: t.integer({ minimum: 1, description: 'More than 1 for refusals that were counted together' }),
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

export function displayActivity(entry: AuditEntry) {
  const { id, event, signInId, detail, count } = entry
  const actor = kindOf(entry.actor)
  // The address of an application is not the user's to see.
  const { address, userAgent } = actor === 'user' ? entry : { address: null, userAgent: null }
  const device = deviceLabel(userAgent)
  const shown = Object.keys(shownDetails).flatMap((name) =>
    detail?.[name] === undefined ? [] : [[name, `${detail[name]}`]],
  )
  const from = { actor, address, userAgent, device, signInId }
  return { id, at: iso(entry.at), event, ...from, count, detail: Object.fromEntries(shown) }
}

function kindOf(actor: string): (typeof actors)[number] {
  const [kind = ''] = actor.split(':')
  return kind === 'producer' ? 'application' : (actors.find((known) => known === kind) ?? 'service')
}
