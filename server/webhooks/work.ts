// The front door of the module: looks at due inboxes, requests that leave, events that a backend
// reads.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { countSending } from '../basics/counts.ts'
import { CarillonError, conflict } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import { version } from '../basics/version.ts'
import type { Watch } from '../inbox/reminders.store.ts'
import { type EventType, testQueue, wants } from '../inbox/webhook-events.store.ts'
import type { StreamLimits } from '../live/stream-limits.ts'
import type { OutboxRow } from '../reach/outbox.store.ts'
import { Outbox } from '../reach/outbox.ts'
import type { Look } from '../reach/timers/decision.store.ts'
import { Reminders } from '../reach/timers/reminders.ts'
import { reloader } from '../store/reloads.ts'
import { eventOf, signedHeaders } from './event-body.ts'
import { hasEvents, lookAtChanges, lookAtUnread, noteMissed, takeEvents } from './looks.store.ts'
import { NotAccepted, type Poster } from './send.ts'
import { findWebhook, listWebhooks, noteAttempt, type Webhook } from './webhooks.store.ts'
import type { WebhookNeeds } from './webhooks.ts'

type Options = WebhookNeeds & {
  random: () => number
  log: Log
  post: Poster
  streamLimits: Pick<StreamLimits, 'take' | 'release'>
}

const pollMs = 500
const logEveryMs = 60_000
const firstPauseMs = 30_000
const maxPauseMs = 3_600_000
const disableAfterMs = 3 * 24 * 3_600_000
const maxTaken = 100

const marks: readonly EventType[] = [
  'notification.read',
  'notification.archived',
  'notification.deleted',
]

/** `after`: the last response's `cursor`. */
type Reading = { after: number | null; waitMs: number; signal: AbortSignal }

export class Webhooks {
  readonly needs: WebhookNeeds
  readonly outbox: Outbox
  readonly #options: Options
  readonly #ending = new AbortController()
  readonly #logged = new LogWindow(logEveryMs, () => {})
  readonly #failing = new Map<string, { failures: number; until: number }>()
  #known: ReadonlyMap<string, Webhook> = new Map()
  #watches: ReadonlyMap<string, Watch> = new Map()
  readonly #reminders: Reminders

  private constructor(options: Options) {
    const { store, now, random, log } = options
    this.needs = options
    this.#options = options
    this.outbox = new Outbox({
      store,
      channel: 'webhook',
      now,
      random,
      log,
      hostOf: (id) => this.#hostOf(id),
      ownerOf: (id) => this.#known.get(id)?.application,
      isPaused: (id) => this.#pauseOf(id) > 0,
    })
    this.outbox.register('event', { deliver: (row) => this.#deliver(row) })
    this.outbox.register('event-to-read', {
      maxAgeMs: Number.POSITIVE_INFINITY,
      deliver: ({ target }) => store.write(noteMissed, target),
    })
    const { outbox } = this
    const unread = { outbox, decide: (look: Look) => store.write(lookAtUnread, look) }
    const webhook = { outbox, decide: (look: Look) => store.write(lookAtChanges, look) }
    this.#reminders = new Reminders({ store, now, log, channels: { unread, webhook } })
  }

  /** Learns of every process's changes within a second. */
  static async open(options: Options): Promise<Webhooks> {
    const webhooks = new Webhooks(options)
    await webhooks.reload()
    options.store.onChange(
      reloader(
        () => webhooks.reload(),
        (error) => webhooks.#logOnce(error),
      ),
      ['webhook'],
    )
    return webhooks
  }

  watchOf(application: string): Watch | undefined {
    return this.#watches.get(application)
  }

  start(): void {
    this.outbox.start()
    this.#reminders.start()
  }

  endWaits(): void {
    this.#ending.abort()
  }

  async end(): Promise<void> {
    this.endWaits()
    await this.#reminders.end()
    await this.outbox.end()
  }

  /**
   * Acknowledges the last response's events, and returns the oldest waiting ones, up to 100, or
   * none after `waitMs`. `missed`: some were too old. Throws CONFLICT for a webhook with a URL,
   * TOO_MANY_REQUESTS if too many wait.
   */
  async read({ id: webhookId, url }: Webhook, { after, waitMs, signal }: Reading) {
    if (url !== null)
      throw conflict(
        'The events of a webhook with a url are sent to it',
        'Add a webhook without one.',
      )
    const { store, streamLimits } = this.#options
    const cursor = randomInt(1, 2 ** 47)
    const take = (before: number | null) =>
      store.write(takeEvents, { webhookId, after: before, cursor, limit: maxTaken })
    streamLimits.take(webhookId)
    try {
      let taken = await take(after)
      const until = performance.now() + waitMs
      const over = AbortSignal.any([signal, this.#ending.signal])
      while (
        taken.rows.length === 0 &&
        !taken.missed &&
        performance.now() < until &&
        !over.aborted
      ) {
        await sleep(pollMs, undefined, { signal: over }).catch(() => {})
        if (await store.read(hasEvents, webhookId)) taken = await take(null)
      }
      const events = []
      // One at a time, because items of many rows would fill the memory.
      for (const row of taken.rows) {
        const event = await eventOf(store, row)
        if (event !== undefined) events.push(event)
      }
      return {
        events,
        cursor: taken.rows.length === 0 ? null : `${cursor}`,
        missed: taken.missed,
      }
    } finally {
      streamLimits.release(webhookId)
    }
  }

  /** Call it after a change, so that the next delivery knows of it. */
  async reload(): Promise<void> {
    const all = await this.#options.store.read(listWebhooks)
    // The change may have mended what failed.
    this.#failing.clear()
    this.#known = new Map(all.map((webhook) => [webhook.id, webhook]))
    const enabled = all.filter(({ disabledAt }) => disabledAt === null)
    const watches = Map.groupBy(enabled, ({ application }) => application).entries()
    this.#watches = new Map(watches.map(([application, ones]) => [application, watchFor(ones)]))
  }

  #hostOf(id: string): string {
    const url = this.#known.get(id)?.url
    return url == null ? '' : new URL(url).host
  }

  async #deliver(row: OutboxRow): Promise<void> {
    const { store } = this.#options
    const webhook = await this.#find(row.target)
    if (webhook === undefined || webhook.url === null) return
    if (webhook.disabledAt !== null && row.queue !== testQueue) return
    this.#waitForFailing(row.queue)
    const event = await eventOf(store, row)
    if (event === undefined) return
    // The same `webhook-id` has the same body.
    const content = { body: JSON.stringify(event), ...JSON.parse(row.ids) }
    row.ids = JSON.stringify(content)
    await this.#send(webhook, row.id, content.body)
  }

  /** Another process may have just added or enabled it. */
  async #find(id: string): Promise<Webhook | undefined> {
    const known = this.#known.get(id)
    return known?.disabledAt === null ? known : this.#options.store.read(findWebhook, id)
  }

  #pauseOf(id: string): number {
    return (this.#failing.get(id)?.until ?? 0) - this.#options.now()
  }

  /** Throws TOO_MANY_REQUESTS: a row claimed before the failure has to wait. */
  #waitForFailing(id: string): void {
    const waitMs = this.#pauseOf(id)
    if (waitMs <= 0) return
    const retryAfter = Math.ceil(waitMs / 1_000)
    throw new CarillonError('TOO_MANY_REQUESTS', 'The webhook failed just now', { retryAfter })
  }

  async #send(webhook: Webhook, id: string, body: string): Promise<void> {
    const { now, post } = this.#options
    let status: number
    try {
      const secrets = await this.#secretsOf(webhook)
      const headers = {
        ...signedHeaders({ id, body, at: now(), secrets }),
        'content-type': 'application/json',
        'content-length': `${Buffer.byteLength(body)}`,
        'user-agent': `Carillon/${version}`,
      }
      status = await countSending('webhook', post({ url: webhook.url ?? '', headers, body }))
    } catch (error) {
      this.#pause(webhook.id)
      await this.#note(webhook, error instanceof NotAccepted ? error.message : 'failed', false)
      throw error
    }
    this.#failing.delete(webhook.id)
    await this.#note(webhook, `status-${status}`, true)
  }

  async #secretsOf({ sealedSecret, sealedPrevious, previousUntil }: Webhook): Promise<string[]> {
    const { sealing, now } = this.#options
    const isOverlap = sealedPrevious !== null && now() < (previousUntil ?? 0)
    const sealed = isOverlap ? [sealedSecret, sealedPrevious] : [sealedSecret]
    const opened = await Promise.all(sealed.map((one) => sealing.open('webhooks', one)))
    const secrets = opened.filter((one) => one !== undefined)
    if (secrets.length === 0) throw new NotAccepted('secret-not-opened')
    return secrets
  }

  /** Simultaneous failures count as one. */
  #pause(id: string): void {
    const { now, random } = this.#options
    const before = this.#failing.get(id) ?? { failures: 0, until: 0 }
    if (now() < before.until) return
    const pauseMs = Math.min(firstPauseMs * 2 ** before.failures, maxPauseMs) * (0.5 + random())
    this.#failing.set(id, { failures: before.failures + 1, until: now() + pauseMs })
  }

  async #note({ id, application }: Webhook, outcome: string, isAccepted: boolean): Promise<void> {
    const { store, now, log } = this.#options
    const at = now()
    const detail = { webhookId: id, ...(application && { application }), reason: outcome }
    const audit = [auditEntry(serviceSource, { event: 'webhook-disabled', at, detail })]
    const attempt = { id, at, outcome, isAccepted, disableAfterMs, audit }
    if (!(await store.write(noteAttempt, attempt))) return
    const facts = { event: 'webhook-disabled', webhookId: id, reason: outcome }
    log.warn(facts, 'a webhook was disabled: no request was accepted for three days')
  }

  #logOnce(err: unknown): void {
    if (this.#logged.isOpen) return
    this.#logged.begin()
    this.#options.log.warn(
      { event: 'webhooks-failed', err },
      'webhooks could not be looked at; retrying',
    )
  }
}

function watchFor(webhooks: readonly Webhook[]): Watch {
  const isWanted = (type: EventType) => webhooks.some((webhook) => wants(webhook, type))
  return {
    marks: marks.some(isWanted),
    arrivals: isWanted('notification.created'),
    unreadAfterMs: isWanted('notification.unread') ? (webhooks[0]?.unreadAfterMs ?? null) : null,
  }
}
