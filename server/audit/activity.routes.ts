import { iso } from '../basics/clock.ts'
import { forUser } from '../http/operation.ts'
import { sendPageOf } from '../http/response/send.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { ActivityPageResponse, ActivityQuery, actors } from './audit.schemas.ts'
import { listAudit } from './audit.store.ts'
import { deviceLabel } from './entry.ts'

export const list = forUser({
  summary: 'What happened to your account, newest first: sign-ins, refused ones, and changes',
  query: ActivityQuery,
  responses: { 200: ActivityPageResponse },
  async handle({ store }: { store: Store }, request, reply) {
    const { userId } = request.caller
    const { limit = 20, after } = request.query
    const query = { userId, limit: limit + 1, ...(after !== undefined && { before: after }) }
    const found = await store.read(listAudit, query)
    return sendPageOf(reply, { found, limit, display: displayActivity })
  },
})

/** Facts about the user's own proofs. Others, such as the id of a key or who ran a command, concern the operator alone. */
const shownDetails = ['variant', 'method', 'code', 'fields'] as const

type Actor = (typeof actors)[number]

/** The address of an application is not the user's to see. */
export function displayActivity({ id, at, event, actor, address, userAgent, signInId, detail, count }: AuditEntry) {
  const kind = kindOf(actor)
  const isOwn = kind === 'user'
  const shown = shownDetails.flatMap((name) => (detail?.[name] === undefined ? [] : [[name, String(detail[name])]]))
  return {
    id,
    at: iso(at),
    event,
    actor: kind,
    address: isOwn ? address : null,
    userAgent: isOwn ? userAgent : null,
    device: isOwn ? deviceLabel(userAgent) : null,
    signInId,
    count,
    detail: Object.fromEntries(shown) as Partial<Record<(typeof shownDetails)[number], string>>,
  }
}

function kindOf(actor: string): Actor {
  const [kind = ''] = actor.split(':')
  return kind === 'producer' ? 'application' : (actors.find((known) => known === kind) ?? 'service')
}
