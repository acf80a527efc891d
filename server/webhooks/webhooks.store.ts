import { record, recordLogged } from '../audit/audit.store.ts'
import type { Audited } from '../store/events.ts'
import {
  all,
  get,
  lock,
  Part,
  type Read,
  run,
  send,
  signal,
  type Write,
} from '../store/statements.ts'

/** `outcome`: a status such as `status-204`, or a class of errors. `at`: milliseconds. */
export type Attempt = { at: number; outcome: string }

export type Webhook = {
  id: string
  application: string
  url: string | null
  events: string
  categories: string | null
  unreadAfterMs: number
  sealedSecret: string
  sealedPrevious: string | null
  previousUntil: number | null
  createdAt: number
  lastSuccessAt: number | null
  failingSince: number | null
  attempts: string
  disabledAt: number | null
}

const columns = new Part(`
  id, application, url, events, categories, unread_after as "unreadAfterMs", sealed_secret as "sealedSecret", sealed_previous as "sealedPrevious",
  previous_until as "previousUntil", created_at as "createdAt", last_success_at as "lastSuccessAt", failing_since as "failingSince",
  attempts, disabled_at as "disabledAt"`)

export const maxWebhooks = 20
const maxAttempts = 20
const usualUnreadAfterMs = 15 * 60_000

export function* listWebhooks(): Read<Webhook[]> {
  return yield* all<Webhook>`select ${columns} from webhook order by created_at, id`
}

export function* findWebhook(id: string): Read<Webhook | undefined> {
  return yield* get<Webhook>`select ${columns} from webhook where id = ${id}`
}

type Choice = Pick<Webhook, 'events' | 'categories'>
type New = Pick<Webhook, 'id' | 'application' | 'url' | 'sealedSecret' | 'createdAt'> &
  Choice & { unreadAfterMs: number | null } & Audited

/**
 * Does nothing if its application has `maxWebhooks`. `unreadAfterMs` then holds for all webhooks of
 * the application; null changes nothing.
 */
export function* addWebhook(added: New): Write<'done' | 'too-many'> {
  const { id, application, url, events, categories, sealedSecret, createdAt, audit } = added
  const found = yield* get<{ count: number; unreadAfterMs: number | null }>`
    select count(*) as count, max(unread_after) as "unreadAfterMs" from webhook where application = ${application}`
  if ((found?.count ?? 0) >= maxWebhooks) return 'too-many'
  const unreadAfterMs = added.unreadAfterMs ?? found?.unreadAfterMs ?? usualUnreadAfterMs
  yield* send`
    insert into webhook (id, application, url, events, categories, unread_after, sealed_secret, created_at)
    values (${id}, ${application}, ${url}, ${events}, ${categories}, ${unreadAfterMs}, ${sealedSecret}, ${createdAt})`
  yield* send`update webhook set unread_after = ${unreadAfterMs} where application = ${application}`
  yield* record(audit)
  yield* signal({ about: 'webhook' })
  return 'done'
}

type Named = { id: string; application: string }

/**
 * Also enables the webhook, and makes what waits for it due again: the change may have mended what
 * failed. The earlier secret signs until `previousUntil`; null drops it.
 */
export function* changeWebhook(
  change: Named &
    Choice & {
      url: string | null
      unreadAfterMs: number
      secret: { sealed: string; previousUntil: number | null } | null
    } & Audited,
): Write<'done' | 'absent'> {
  const { id, application, url, events, categories, unreadAfterMs, secret, audit } = change
  const changed = yield* run`
    update webhook set url = ${url}, events = ${events}, categories = ${categories}, disabled_at = null, failing_since = null
    where id = ${id} and application = ${application}`
  if (changed === 0) return 'absent'
  if (secret !== null)
    yield* send`
      update webhook set sealed_secret = ${secret.sealed}, previous_until = ${secret.previousUntil},
        sealed_previous = case when cast(${secret.previousUntil} as bigint) is null then null else sealed_secret end
      where id = ${id}`
  yield* send`update webhook set unread_after = ${unreadAfterMs} where application = ${application}`
  yield* send`
    update outbox set due_at = at
    where channel = 'webhook' and queue = ${id} and kind = 'event' and holder is null`
  yield* record(audit)
  yield* signal({ about: 'webhook' })
  return 'done'
}

/** Also removes its waiting rows. `application`: null for any. */
export function* removeWebhook({
  id,
  application,
  audit,
}: { id: string; application: string | null } & Audited): Write<'done' | 'absent'> {
  const removed = yield* run`
    delete from webhook where id = ${id} and (cast(${application} as text) is null or application = ${application})`
  if (removed === 0) return 'absent'
  yield* send`delete from outbox where channel = 'webhook' and queue = ${id}`
  yield* record(audit)
  yield* signal({ about: 'webhook' })
  return 'done'
}

type Before = Pick<Webhook, 'attempts' | 'lastSuccessAt' | 'failingSince' | 'disabledAt'>
type Attempted = Attempt & { id: string; isAccepted: boolean; disableAfterMs: number } & Audited

/**
 * Keeps the last twenty attempts. An accepted one enables the webhook. If all failed for
 * `disableAfterMs`, disables it and removes its waiting rows. The entry's log line is still to
 * write. Returns whether this call disabled it.
 */
export function* noteAttempt(attempt: Attempted): Write<boolean> {
  const { id, at, outcome, isAccepted, disableAfterMs, audit } = attempt
  const before = yield* lock<Before>`
    select attempts, last_success_at as "lastSuccessAt", failing_since as "failingSince", disabled_at as "disabledAt"
    from webhook where id = ${id}`
  if (before === undefined) return false
  const attempts = [{ at, outcome }, ...JSON.parse(before.attempts)].slice(0, maxAttempts)
  const lastSuccessAt = isAccepted ? at : before.lastSuccessAt
  const failingSince = isAccepted ? null : (before.failingSince ?? at)
  let { disabledAt } = before
  if (failingSince === null) disabledAt = null
  else if (failingSince <= at - disableAfterMs) disabledAt ??= at
  yield* send`
    update webhook set attempts = ${JSON.stringify(attempts)}, last_success_at = ${lastSuccessAt},
      failing_since = ${failingSince}, disabled_at = ${disabledAt}
    where id = ${id}`
  if (disabledAt === before.disabledAt) return false
  yield* signal({ about: 'webhook' })
  if (disabledAt === null) return false
  yield* send`delete from outbox where channel = 'webhook' and queue = ${id} and holder is null`
  yield* recordLogged([...(audit ?? [])])
  return true
}

type Sealed = { id: string; from: string; to: string }

/** Replaces sealed secrets that are unchanged. */
export function* resealWebhooks(secrets: readonly Sealed[]): Write<void> {
  for (const { id, from, to } of secrets) {
    yield* send`update webhook set sealed_secret = ${to} where id = ${id} and sealed_secret = ${from}`
    yield* send`update webhook set sealed_previous = ${to} where id = ${id} and sealed_previous = ${from}`
  }
  yield* signal({ about: 'webhook' })
}

export function* sealedWebhooks(): Read<{ id: string; from: string }[]> {
  return yield* all`
    select id, sealed_secret as "from" from webhook
    union all select id, sealed_previous from webhook where sealed_previous is not null`
}
