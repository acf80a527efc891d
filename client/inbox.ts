// The signed-in user's own notifications: list, count, mark as read, follow. Every method is one route.

import { openSharedStream } from './stream/shared-stream.ts'
import type { StreamOptions } from './stream/subscription.ts'
import { CarillonError } from './transport/errors.ts'
import type { CallOptions, Requests } from './transport/requests.ts'
import type { Changes, Counts, Notification, NotificationPage, Position, StreamEvent } from './transport/types.ts'

export type ListOptions = CallOptions & {
  /** From 1; default 1. */
  page?: number | undefined
  /** 1 to 100; default 20. */
  limit?: number | undefined
  /** Only those that are not read. */
  status?: 'unread' | undefined
  /** `next` of an earlier page, in place of `page`: it stays in place while new ones arrive. */
  before?: string | number | undefined
}

export type ChangesOptions = CallOptions & {
  since: Position
  /** 1 to 100; default 100. */
  limit?: number | undefined
  /** Seconds, 0 to 25: so long the answer is held while nothing changes. */
  wait?: number | undefined
}

export type Inbox = {
  /** `GET /api/notifications`: a page, newest first. A page past the end has no items. */
  list(options?: ListOptions): Promise<NotificationPage>
  /** All of them, newest first, page after page as they are asked for. `limit` is the size of a page. */
  iterate(options?: Pick<ListOptions, 'limit' | 'status' | 'signal'>): AsyncGenerator<Notification, void>
  /** `GET /api/notifications/counts`: exact, also by category. */
  counts(options?: CallOptions): Promise<Counts>
  /** `GET /api/notifications/:id`. Throws NOT_FOUND where this user has no such notification. */
  get(id: string, options?: CallOptions): Promise<Notification>
  /** `PATCH /api/notifications/:id/read`. Repeating it changes nothing. Throws NOT_FOUND. */
  read(id: string, options?: CallOptions): Promise<void>
  /** `POST /api/notifications/read-all`: all, or all up to and with the one that `through` names. */
  readAll(options?: CallOptions & { through?: string | undefined }): Promise<void>
  /** `GET /api/notifications/changes`: what has changed since a position. */
  changes(options: ChangesOptions): Promise<Changes>
  /**
   * `GET /api/notifications/stream`: what happens, as it happens, each event once and in order; without `since`, from now
   * on. Cuts, restarts and sleep are bridged: it reconnects by itself and resumes. `break` leaves it. Throws the reason of
   * an aborted signal, UNAUTHORIZED when the proof has ended (`reason` says how) and no other is to be had, and whatever else
   * another attempt would not mend.
   *
   * In a browser all tabs of a user share one stream, and a loop that leaves 1,000 events lying is told to `resync`.
   * Elsewhere nothing is read ahead of the loop; one that stays away for 30 s is cut by the server, and resumed.
   */
  subscribe(options?: StreamOptions): AsyncIterableIterator<StreamEvent>
}

export function inboxOf(requests: Requests): Inbox {
  const list = ({ signal, page, limit, status, before }: ListOptions = {}) =>
    requests.data<NotificationPage>({ path: 'api/notifications', query: { page, limit, status, before }, signal })

  return {
    list,
    async *iterate(options = {}) {
      let before: string | undefined
      do {
        const { items, next } = await list({ ...options, before })
        yield* items
        before = next ?? undefined
      } while (before !== undefined)
    },
    counts: (options) => requests.data({ ...options, path: 'api/notifications/counts' }),
    get: async (id, options) => requests.data({ ...options, path: pathOf(id) }),
    read: async (id, options) => requests.nothing({ ...options, method: 'PATCH', path: `${pathOf(id)}/read` }),
    readAll: ({ through, signal } = {}) =>
      requests.nothing({ method: 'POST', path: 'api/notifications/read-all', query: { through }, signal }),
    changes: ({ since, limit, wait, signal }) =>
      requests.data({ path: 'api/notifications/changes', query: { since, limit, wait }, signal }),
    subscribe: (options) => openSharedStream(requests, options),
  }
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** What is no id names no notification, as the server answers it: but there `..` or `counts` would be another route. */
function pathOf(id: string): string {
  if (!uuid.test(id)) throw new CarillonError('NOT_FOUND', 'You have no such notification', { status: 404 })
  return `api/notifications/${id}`
}
