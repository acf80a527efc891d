// The inbox of the signed-in user: list, count, mark read, follow. The comment of each method names its route.
import { openSharedStream } from './stream/shared-stream.ts'
import type { StreamOptions } from './stream/subscription.ts'
import { idInPath } from './transport/paths.ts'
import type { CallOptions, Requests } from './transport/requests.ts'
import type { Changes, Counts, Notification, NotificationPage, Position, StreamEvent } from './transport/types.ts'

export type ListOptions = CallOptions & {
  /** From 1; default 1. */
  page?: number | undefined
  /** 1 to 100; default 20. */
  limit?: number | undefined
  /** Default `all`. */
  status?: 'unread' | 'read' | 'all' | undefined
  /** Only notifications of this category, or of one of these, at most 20. */
  category?: string | readonly string[] | undefined
  /** The `next` of an earlier page, instead of `page`: new notifications do not shift it. */
  before?: string | number | undefined
}

export type ReadAllOptions = CallOptions & {
  throughSeq?: number | undefined
  through?: string | undefined
  /** At most 20. */
  category?: string | readonly string[] | undefined
}

export type ChangesOptions = CallOptions & {
  since: Position
  /** 1 to 100; default 100. */
  limit?: number | undefined
  /** Seconds, 0 to 25: if nothing has changed, the server waits that long for a change. */
  wait?: number | undefined
}

export type Inbox = {
  /** `GET /api/notifications`: a page, newest first. A page after the last one has no items. */
  list(options?: ListOptions): Promise<NotificationPage>
  /**
   * All notifications, newest first, each once. Requests a page when the loop needs it. `limit` is the size of a page. A
   * notification that is sent again during the loop moves to the top: if the loop has not yielded it yet, it does not.
   */
  iterate(options?: Pick<ListOptions, 'limit' | 'status' | 'category' | 'signal'>): AsyncGenerator<Notification, void>
  /** `GET /api/notifications/counts`: exact counts, in total and by category. */
  counts(options?: CallOptions): Promise<Counts>
  /** `GET /api/notifications/:id`. Throws NOT_FOUND if this user has no such notification. */
  get(id: string, options?: CallOptions): Promise<Notification>
  /** `PATCH /api/notifications/:id/read`: marks it read. A second call changes nothing. Throws NOT_FOUND. */
  read(id: string, options?: CallOptions): Promise<void>
  /**
   * `PATCH /api/notifications/:id/unread`: marks it unread, also after a `readAll`, until the next one. A second call changes
   * nothing. Throws NOT_FOUND.
   */
  unread(id: string, options?: CallOptions): Promise<void>
  /**
   * `POST /api/notifications/read-all`: marks all read, or only those with a `seq` up to `throughSeq`, such as the highest one that
   * was on screen. `through` is the id of a notification in place of its `seq`. With `category`, only those of these categories.
   */
  readAll(options?: ReadAllOptions): Promise<void>
  /**
   * `POST /api/notifications/undo`: takes back the last `readAll`, within ten minutes. What arrived, or was marked alone since,
   * stays as it is. A second call changes nothing. Throws CONFLICT if there is nothing to undo.
   */
  undo(options?: CallOptions): Promise<void>
  /** `GET /api/notifications/changes`: the changes since a position. */
  changes(options: ChangesOptions): Promise<Changes>
  /**
   * `GET /api/notifications/stream`: live events, each event once and in order; without `since`, from now on. After a lost
   * connection, a restart of the server or sleep it reconnects and resumes. `break` closes it. Throws the reason of an
   * aborted signal; UNAUTHORIZED if the proof has ended (`reason` says how) and there is no new token; and every other
   * error that a retry would not fix.
   *
   * In a browser, all tabs of a user share one stream; a loop that falls 1,000 events behind gets a `resync`. Elsewhere
   * the client reads nothing ahead of the loop: after a loop has read nothing for 30 s the server disconnects, and the
   * client resumes.
   */
  subscribe(options?: StreamOptions): AsyncIterableIterator<StreamEvent>
}

export function inboxOf(requests: Requests): Inbox {
  const list = ({ signal, ...query }: ListOptions = {}) =>
    requests.data<NotificationPage>({ path: 'api/notifications', query, signal })

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
    unread: async (id, options) => requests.nothing({ ...options, method: 'PATCH', path: `${pathOf(id)}/unread` }),
    undo: (options) => requests.nothing({ ...options, method: 'POST', path: 'api/notifications/undo' }),
    readAll: ({ signal, ...query } = {}) =>
      requests.nothing({ method: 'POST', path: 'api/notifications/read-all', query, signal }),
    changes: ({ signal, ...query }) => requests.data({ path: 'api/notifications/changes', query, signal }),
    subscribe: (options) => openSharedStream(requests, options),
  }
}

function pathOf(id: string): string {
  return `api/notifications/${idInPath(id, 'You have no such notification')}`
}
