// The client of an application that sends. A delivery that is sent again has the same idempotency
// key, so it happens once.
import { type Backoff, delayAfter } from '../transport/backoff.ts'
import { pause } from '../transport/cancellation.ts'
import { isCarillonError } from '../transport/errors.ts'
import { type Call, type CallOptions, nameInPath, type Requests } from '../transport/requests.ts'
import type * as wire from '../transport/types.ts'
import { pathOf, type UserName, type Users, usersOf } from './users.ts'

export type SendOptions = CallOptions & {
  /**
   * Your name for this delivery, 1 to 255 visible ASCII characters. Within 24 hours, all calls with this key are one
   * delivery, even from several processes. Default: a new key for each call.
   */
  idempotencyKey?: string | undefined
  /**
   * The maximum number of attempts, at least 1; default 6. The pauses take at most 12.5 s in all,
   * unless `Retry-After` asks for more.
   */
  attempts?: number | undefined
}

export type EventOptions = CallOptions & {
  /** Called if events waited for more than three days, and are lost. */
  onMissed?: (() => void) | undefined
}

export type Categories = {
  /** `PUT /api/categories/:name`: declares a category, so that users see its texts and can mute it. */
  put(name: string, category: wire.CategoryDeclaration, options?: CallOptions): Promise<void>
  /** `GET /api/categories/:name`. Throws NOT_FOUND if it is not declared. */
  get(name: string, options?: CallOptions): Promise<wire.Category>
}

export type Producer = {
  /**
   * `POST /api/notifications`: delivers to all known recipients, or to none. Tries again after 408,
   * 409 (an earlier attempt is in progress), 429, 502, 503, 504 and 30 seconds without a response;
   * then it throws the last error. After NETWORK, the delivery may have happened.
   *
   * @example await producer.send({ recipients: [{ username: 'ann' }], title: 'Your parcel is here' })
   */
  send(delivery: wire.DeliveryRequest, options?: SendOptions): Promise<wire.Delivery>
  /**
   * `PATCH /api/notifications/by-key/:key`: changes it in all inboxes, silently. Throws NOT_FOUND
   * if no inbox has it.
   */
  updateByKey(
    key: string,
    change: wire.NotificationChange,
    options?: CallOptions,
  ): Promise<wire.KeyChange>
  /**
   * `DELETE /api/notifications/by-key/:key`: removes it from all inboxes. Throws NOT_FOUND if no
   * inbox has it.
   */
  removeByKey(key: string, options?: CallOptions): Promise<wire.KeyChange>
  /**
   * `POST /api/notifications/by-key/:key/resolve`: it becomes read and archived in all inboxes.
   * Throws NOT_FOUND if no inbox has it.
   */
  resolveByKey(key: string, options?: CallOptions): Promise<wire.KeyChange>
  categories: Categories
  /**
   * `GET /api/webhooks/:id/events`: the events of a webhook without a URL, as they come. Each comes
   * at least once, and those of one user in order. When the loop has gone through the events of a
   * response, the next request acknowledges them. It retries as `send` does, but never gives up.
   * Needs a key with the scope `webhooks`.
   */
  events(webhookId: string, options?: EventOptions): AsyncGenerator<wire.WebhookEvent, never>
  /** Needs a key with the scope `users`. */
  users: Users
  /** One-time links by which a user sets a password. Needs a key with the scope `users`. */
  links: {
    /**
     * `POST .../links`: makes a link, which you send to the user. The last three links of a purpose
     * are valid. Throws CONFLICT for a user without a username, an invitation of a user who can
     * sign in already, and a `mailedTo` that is not the address on record.
     */
    create(user: UserName, link: wire.LinkRequest, options?: CallOptions): Promise<wire.UserLink>
  }
}

const defaultBackoff: Backoff = { retryMs: 500, maxRetryMs: 5_000, random: Math.random }
const temporaryStatuses: readonly (number | undefined)[] = [408, 409, 429, 502, 503, 504]

function isTemporary(error: unknown): boolean {
  return (
    isCarillonError(error) && (error.code === 'NETWORK' || temporaryStatuses.includes(error.status))
  )
}

export function producerOf(
  requests: Requests,
  backoff = defaultBackoff,
  attemptMs = 30_000,
): Producer {
  /** The next response, after any number of failures. */
  async function received(call: Call): Promise<wire.WebhookEvents> {
    for (let failures = 0; ; failures++)
      try {
        return await requests.data<wire.WebhookEvents>(call)
      } catch (error) {
        if (!isTemporary(error)) throw error
        await pause(delayAfter(error, failures, backoff), call.signal)
      }
  }
  const byKey = async (key: string, call: Pick<Call, 'method' | 'body' | 'signal'>, act = '') =>
    requests.data<wire.KeyChange>({
      ...call,
      path: `api/notifications/by-key/${nameInPath(key, 'a key')}${act}`,
    })
  const categoryPath = (name: string) => `api/categories/${nameInPath(name, 'a category')}`
  return {
    users: usersOf(requests),
    links: {
      create: async (user, link, options) =>
        requests.data({ ...options, method: 'POST', path: `${pathOf(user)}/links`, body: link }),
    },
    updateByKey: (key, change, options) =>
      byKey(key, { ...options, method: 'PATCH', body: change }),
    removeByKey: (key, options) => byKey(key, { ...options, method: 'DELETE' }),
    resolveByKey: (key, options) => byKey(key, { ...options, method: 'POST' }, '/resolve'),
    categories: {
      put: async (name, category, options) =>
        requests.nothing({ ...options, method: 'PUT', path: categoryPath(name), body: category }),
      get: async (name, options) => requests.data({ ...options, path: categoryPath(name) }),
    },
    async *events(webhookId, { onMissed, signal } = {}) {
      const path = `api/webhooks/${nameInPath(webhookId, 'a webhook')}/events`
      for (let after: string | undefined; ; ) {
        const found = await received({
          path,
          query: { wait: 25, after },
          signal,
          timeoutMs: attemptMs,
        })
        if (found.missed) onMissed?.()
        yield* found.events
        after = found.cursor ?? undefined
      }
    },
    async send(delivery, { idempotencyKey = crypto.randomUUID(), attempts = 6, signal } = {}) {
      const call = {
        method: 'POST',
        path: 'api/notifications',
        // Serialised once: for an idempotency key, another order of fields is another body.
        body: JSON.stringify(delivery),
        headers: { 'idempotency-key': idempotencyKey },
        signal,
        timeoutMs: attemptMs,
      } as const
      for (let failures = 0; ; failures++)
        try {
          return await requests.data<wire.Delivery>(call)
        } catch (error) {
          // The comparison is in this order so that NaN attempts count as one.
          if (!(failures + 1 < attempts && isTemporary(error))) throw error
          await pause(delayAfter(error, failures, backoff), signal)
        }
    },
  }
}
