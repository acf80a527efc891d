// A user's activity: the entries of the audit log, as their user may see them.
import { iso } from '../basics/clock.ts'
import * as t from '../http/openapi/schema.ts'
import type { AuditEntry } from '../store/events.ts'
import { deviceLabel } from './entry.ts'

export const actors = ['user', 'application', 'operator', 'provider', 'service'] as const
/**
 * Facts about the user's own proofs. Others, such as who ran a command, concern the operator alone.
 */
export const shownDetails = {
  variant: t.optional(t.example(t.string(), 'stateful')),
  method: t.optional(t.example(t.string(), 'password')),
  code: t.optional(t.string()),
  fields: t.optional(t.string()),
}

export function displayActivity(entry: AuditEntry) {
  const { id, event, signInId, detail, count } = entry
  const actor = kindOf(entry.actor)
  // An application's address is not the user's to see.
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
