import type { FastifyRequest } from 'fastify'
import { newOrderedId } from '../basics/ids.ts'
import { addressOf } from '../http/request/address.ts'
import type { Site } from '../http/site.ts'
import type { AuditEntry } from '../store/events.ts'
import type { EventName } from './events.ts'

export type Source = Pick<AuditEntry, 'actor' | 'address' | 'userAgent' | 'requestId'> & {
  /** The system user who runs a command. */
  by?: string
}

const maxUserAgent = 256

export type RequestSource = Source & { address: string; requestId: string; route: string }

/** Call it before the first await: Node forgets a closed connection's address. */
export function sourceOf(
  { site }: { site: Pick<Site, 'trustedProxies'> },
  request: FastifyRequest,
): RequestSource {
  const { raw, id } = request
  const userAgent = raw.headers['user-agent']?.slice(0, maxUserAgent) ?? null
  const route = request.routeOptions.url ?? ''
  return {
    actor: 'user',
    address: addressOf(raw, site.trustedProxies),
    userAgent,
    requestId: id,
    route,
  }
}

export const serviceSource: Source = {
  actor: 'service',
  address: null,
  userAgent: null,
  requestId: null,
}

export type Facts = { event: EventName } & Partial<
  Pick<AuditEntry, 'userId' | 'username' | 'signInId' | 'nameHash' | 'detail'>
>

export function recorded(
  { source = serviceSource, now }: { source?: Source; now: () => number },
  facts: Facts,
): { audit: readonly AuditEntry[] } {
  return { audit: [auditEntry(source, { ...facts, at: now() })] }
}

/** `detail` must not contain a secret. */
export function auditEntry(
  source: Source,
  { event, at, ...facts }: Facts & { at: number },
): AuditEntry {
  const { userId = null, signInId = null, nameHash = null, detail: given = null } = facts
  const { actor, address, userAgent, requestId, by } = source
  const from = { actor, address, userAgent, requestId, signInId, nameHash }
  const named = facts.username === undefined ? {} : { username: facts.username }
  const detail = by === undefined ? given : { ...given, by }
  return { id: newOrderedId(at), at, event, userId, ...named, ...from, detail, count: 1 }
}

// A User-Agent can be any text, so labels have our words or one short product name.

/** The first match counts: browsers also name those that they are built on. */
const browsers: readonly [name: string, shape: RegExp][] = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\b(OPR|Opera|OPiOS)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|HeadlessChrome|Chromium)\//],
  ['Safari', /\bVersion\/[\d.]+ (?:\S+ )?Safari\//],
]
const systems: readonly [name: string, shape: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\b(iPhone|iPod)\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\b(Mac OS X|Macintosh)\b/],
  ['Linux', /\bLinux\b/],
]
/** RFC 9110, section 10.1.5. */
const product = /^([A-Za-z][\w.-]{0,31})(?:[/ ;(]|$)/

export function deviceLabel(userAgent: string | null): string | null {
  if (userAgent === null) return null
  const find = (known: typeof browsers) => known.find(([, shape]) => shape.test(userAgent))?.[0]
  const browser = find(browsers)
  const system = find(systems)
  const [, program] = product.exec(userAgent) ?? []
  const name = browser ?? (program === 'Mozilla' ? 'A browser' : program)
  if (name === undefined) return null
  return system === undefined ? name : `${name} on ${system}`
}
