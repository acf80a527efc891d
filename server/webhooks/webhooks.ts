// Who may change which webhook? An application may change its own, the command line all.
import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { recorded, type Source } from '../audit/entry.ts'
import { conflict, invalidField, notFound } from '../basics/errors.ts'
import { newOrderedId } from '../basics/ids.ts'
import { isPublicAddress } from '../basics/ip-addresses.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { EventType } from '../inbox/webhook-events.store.ts'
import type { Store } from '../store/store.ts'
import * as stored from './webhooks.store.ts'

export type WebhookNeeds = {
  store: Store
  sealing: Sealing
  now: () => number
  allowsPrivate: boolean
}
type Acting = WebhookNeeds & { source?: Source }

const overlapMs = 24 * 3_600_000
const minuteMs = 60_000

/** `unreadAfter`: minutes. */
export type Wanted = {
  url?: string | null | undefined
  events: readonly EventType[]
  categories?: readonly string[] | null | undefined
  unreadAfter?: number | null | undefined
}

/** Returns the secret, displayed once. Throws INVALID_REQUEST or CONFLICT. */
export async function addWebhook(needs: Acting, application: string, wanted: Wanted) {
  const { store, sealing, now } = needs
  const url = readUrl(wanted.url ?? null, needs)
  const createdAt = now()
  const id = newOrderedId(createdAt)
  const secret = newSecret()
  const webhook = {
    id,
    application,
    url,
    ...choiceOf(wanted),
    sealedSecret: await sealing.seal('webhooks', secret),
    createdAt,
  }
  const entry = recorded(needs, { event: 'webhook-created', detail: detailOf(webhook) })
  if ((await store.write(stored.addWebhook, { ...webhook, ...entry })) === 'too-many')
    throw conflict(`An application can have ${stored.maxWebhooks} webhooks at most`)
  return { secret, webhook: await foundOf(needs, id, application) }
}

/**
 * Enables the webhook. With `rotateSecret` it returns the new secret; for a day both sign, if the
 * earlier one opens. Throws NOT_FOUND, or INVALID_REQUEST for adding or removing the `url`.
 */
export async function changeWebhook(
  needs: Acting,
  { id, application }: { id: string; application: string },
  change: Partial<Wanted> & { rotateSecret?: boolean | undefined },
) {
  const { store } = needs
  const before = await foundOf(needs, id, application)
  const url = change.url === undefined ? before.url : readUrl(change.url, needs)
  if ((url === null) !== (before.url === null))
    throw badUrl('can be changed, but neither added nor removed: add another webhook')
  const choice = choiceOf({ ...displayedWebhook(before), ...change })
  const after = {
    ...before,
    ...choice,
    unreadAfterMs: choice.unreadAfterMs ?? before.unreadAfterMs,
    url,
  }
  const secret = change.rotateSecret ? newSecret() : undefined
  const rotation = secret === undefined ? null : await rotationTo(needs, secret, before)
  const detail = { ...detailOf(after), ...(secret && { secret: 'rotated' }) }
  const entry = recorded(needs, { event: 'webhook-changed', detail })
  const outcome = await store.write(stored.changeWebhook, { ...after, secret: rotation, ...entry })
  if (outcome === 'absent') throw noWebhook(id)
  return { secret, webhook: await foundOf(needs, id, application) }
}

/** An unreadable earlier secret signs nothing, and would make `carillon secret rotate` fail. */
async function rotationTo(
  { sealing, now }: Acting,
  secret: string,
  { sealedSecret }: stored.Webhook,
) {
  const keepsPrevious = (await sealing.open('webhooks', sealedSecret)) !== undefined
  return {
    sealed: await sealing.seal('webhooks', secret),
    previousUntil: keepsPrevious ? now() + overlapMs : null,
  }
}

/** `application`: null for any. Throws NOT_FOUND. */
export async function removeWebhook(
  needs: Pick<Acting, 'store' | 'now' | 'source'>,
  id: string,
  application: string | null,
) {
  const entry = recorded(needs, { event: 'webhook-removed', detail: { webhookId: id } })
  if ((await needs.store.write(stored.removeWebhook, { id, application, ...entry })) === 'absent')
    throw noWebhook(id)
}

export async function foundOf({ store }: Pick<Acting, 'store'>, id: string, application: string) {
  const found = await store.read(stored.findWebhook, id)
  if (found?.application !== application) throw noWebhook(id)
  return found
}

export function noWebhook(id: string) {
  return notFound(`There is no webhook ${id}`)
}

/** Has no secrets. */
export function displayedWebhook({
  id,
  url,
  events,
  categories,
  unreadAfterMs,
  createdAt,
  lastSuccessAt,
  failingSince,
  attempts,
  disabledAt,
}: stored.Webhook) {
  return {
    id,
    url,
    events: events.split(',') as EventType[],
    categories: JSON.parse(categories ?? 'null') as string[] | null,
    unreadAfter: unreadAfterMs / minuteMs,
    createdAt,
    lastSuccessAt,
    failingSince,
    disabledAt,
    attempts: JSON.parse(attempts) as stored.Attempt[],
  }
}

function choiceOf({ events, categories = null, unreadAfter }: Wanted) {
  return {
    events: [...new Set(events)].join(','),
    categories: categories === null ? null : JSON.stringify(categories),
    unreadAfterMs: unreadAfter == null ? null : unreadAfter * minuteMs,
  }
}

function detailOf({
  id,
  application,
  url,
  events,
}: Pick<stored.Webhook, 'id' | 'application' | 'url' | 'events'>) {
  const host = url === null ? undefined : new URL(url).host
  return { webhookId: id, ...(application && { application }), ...(host && { host }), events }
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

function badUrl(reason: string) {
  return invalidField('url', reason, `The url ${reason}`)
}

/** An address can change, so names are checked at each connection. */
function readUrl(
  text: string | null,
  { allowsPrivate }: Pick<Acting, 'allowsPrivate'>,
): string | null {
  if (text === null) return null
  const url = URL.parse(text)
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    throw badUrl('must be an absolute URL that begins with https://')
  if (url.username || url.password || url.hash)
    throw badUrl('must have no name, password or fragment')
  if (allowsPrivate) return url.href
  const allowed = 'unless CARILLON_OUTBOUND_PRIVATE=on'
  if (url.protocol !== 'https:') throw badUrl(`must begin with https://, ${allowed}`)
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  const isPrivate = isIP(host) ? !isPublicAddress(host) : /(^|\.)localhost$/.test(host)
  if (isPrivate) throw badUrl(`must not be a private address, ${allowed}`)
  return url.href
}
