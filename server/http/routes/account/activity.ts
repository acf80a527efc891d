// What the audit log says about the signed-in user, for that user: nothing about another one, and nothing about who else acted except
// what kind of actor it was.
import type { FastifyReply } from 'fastify'
import { deviceLabel } from '../../../sign-in/devices/device-label.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { AuditEntry } from '../../../store/store.ts'
import { iso } from '../../../times.ts'
import type { Dependencies } from '../../dependencies.ts'
import { PageQuery } from '../../openapi/request-schemas.ts'
import { sendData } from '../../response/send.ts'
import type { GuardedRequest, Operation } from '../operation.ts'

export const list: Operation<Subject> = {
  id: 'listActivity',
  tag: 'sign-in',
  summary: 'What happened to your account, newest first: sign-ins, refused ones, and changes',
  query: PageQuery,
  responses: { 200: 'ActivityPageResponse' },
  handle: listActivity,
}

async function listActivity({ store }: Dependencies, request: GuardedRequest<Subject>, reply: FastifyReply) {
  const { userId } = request.caller
  const { limit = 20, after } = request.query as PageQuery
  const found = await store.listAudit({ userId, limit: limit + 1, ...(after !== undefined && { before: after }) })
  const items = found.slice(0, limit)
  const next = found.length > limit ? (items.at(-1)?.id ?? null) : null
  return sendData(reply, { items: items.map(displayActivity), next })
}

/** Facts about the user's own proofs. Others, such as the id of a key or who ran a command, concern the operator alone. */
const shownDetails = ['variant', 'method', 'code', 'fields'] as const

export const actors = ['user', 'application', 'operator', 'provider', 'service'] as const
type Actor = (typeof actors)[number]

/** The address of an application is not the user's to see. */
function displayActivity({ id, at, event, actor, address, userAgent, signInId, detail, count }: AuditEntry) {
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
