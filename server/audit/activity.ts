// The audit entries that their user may see.
import { iso } from '../basics/clock.ts'
import * as t from '../http/openapi/schema.ts'
import type { AuditEntry } from '../store/events.ts'
import { deviceLabel } from './entry.ts'

export const actors = ['user', 'application', 'operator', 'provider', 'service'] as const
/** Facts about the user's own proofs. Others concern only operators. */
export const shownDetails = {
  variant: t.optional(t.example(t.string(), 'stateful')),
  method: t.optional(t.example(t.string(), 'password')),
  code: t.optional(t.string()),
  fields: t.optional(t.string()),
}

export function displayActivity(entry: AuditEntry) {
  const { id, event, signInId, detail, count } = entry
  const actor = kindOf(entry.actor)
  // The user must not see an application's address.
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
