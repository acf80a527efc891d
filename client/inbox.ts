import { openSharedStream } from './stream/shared-stream.ts'
import type { StreamOptions } from './stream/subscription.ts'
import { type Call, type CallOptions, idInPath, type Requests } from './transport/requests.ts'
import type * as wire from './transport/types.ts'

/** `unread` and `read` are neither archived nor snoozed; `all` is everything that exists. */
export type ListStatus = 'unread' | 'read' | 'archived' | 'snoozed' | 'all'

export type ListOptions = CallOptions & {
  /** From 1; default 1. */
  page?: number | undefined
  /** 1 to 100; default 20. */
  limit?: number | undefined
  /** Default: what is neither archived nor snoozed. */
  status?: ListStatus | undefined
  /** Only notifications of this category, or of one of these, at most 20. */
  category?: string | readonly string[] | undefined
  /** The `next` of an earlier page, instead of `page`: new notifications do not shift it. */
  before?: string | number | undefined
}

export type ReadAllOptions = CallOptions & {
  /** Only those with a `seq` up to this. */
  throughSeq?: number | undefined
  /** Only those up to the notification with this id. */
  through?: string | undefined
  /** Only those of this category, or of one of these, at most 20. */
  category?: string | readonly string[] | undefined
}

export type ChangesOptions = CallOptions & {
  since: wire.Position
  /** 1 to 100; default 100. */
  limit?: number | undefined
  /** Seconds, 0 to 25: if nothing has changed, the server waits that long for a change. */
  wait?: number | undefined
}

/** With an unknown `id`, a method throws NOT_FOUND. A repeated call changes nothing more. */
export type Inbox = {
  /**
   * `GET /api/notifications`: a page, newest first. A page after the last one has no items.
   *
   * @example const { items, next } = await carillon.inbox.list({ status: 'unread', limit: 50 })
   */
  list(options?: ListOptions): Promise<wire.NotificationPage>
  /**
   * All notifications, newest first, each once. The loop requests a page when it needs it. `limit`:
   * the size of a page.
   *
   * @example for await (const { title } of carillon.inbox.iterate()) console.log(title)
   */
  iterate(options?: Omit<ListOptions, 'page' | 'before'>): AsyncGenerator<wire.Notification, void>
  /** `GET /api/notifications/counts`: exact counts, in total and by category. */
  counts(options?: CallOptions): Promise<wire.Counts>
  /** `GET /api/notifications/:id`: one notification. */
  get(id: string, options?: CallOptions): Promise<wire.Notification>
  /** `PATCH /api/notifications/:id/read`: marks it as read. */
  read(id: string, options?: CallOptions): Promise<void>
  /** `PATCH /api/notifications/:id/unread`: marks it as unread, and puts it back into the list. */
  markUnread(id: string, options?: CallOptions): Promise<void>
  /** `PATCH /api/notifications/:id/archive`: archives it, and marks it read. */
  archive(id: string, options?: CallOptions): Promise<void>
  /** `PATCH /api/notifications/:id/unarchive`: returns an archived or snoozed one to its place. */
  unarchive(id: string, options?: CallOptions): Promise<void>
  /**
   * `PATCH /api/notifications/:id/snooze`: it leaves the list until then, at most a year; then it
   * is the newest, unread.
   *
   * @example await carillon.inbox.snooze(id, new Date(Date.now() + 3_600_000).toISOString())
   */
  snooze(id: string, until: wire.Time, options?: CallOptions): Promise<void>
  /** `DELETE /api/notifications/:id`: removes it for good. */
  remove(id: string, options?: CallOptions): Promise<void>
  /** `POST /api/notifications/read-all`: marks all as read, or what the options select. */
  readAll(options?: ReadAllOptions): Promise<void>
  /** `POST /api/notifications/archive-read`: archives everything that is read now. */
  archiveRead(options?: CallOptions): Promise<void>
  /** `POST /api/notifications/seen`: from then on, `unseen` counts what has a higher `seq`. */
  seen(throughSeq: number, options?: CallOptions): Promise<void>
  /**
   * `POST /api/notifications/undo`: takes back the last `readAll` or `archiveRead`, within ten
   * minutes. What changed since stays as it is. Throws CONFLICT if there is nothing to undo.
   */
  undo(options?: CallOptions): Promise<void>
  /** `GET /api/notifications/changes`: the changes since a position. */
  changes(options: ChangesOptions): Promise<wire.Changes>
  /** `GET /api/me/preferences`: what is muted, and when the service sends mails and pushes. */
  preferences(options?: CallOptions): Promise<wire.Preferences>
  /**
   * `PUT /api/me/preferences`: changes the given members. A mute is for later notifications. Throws
   * CONFLICT if a mandatory category would be muted or turned off.
   */
  setPreferences(change: wire.PreferencesChange, options?: CallOptions): Promise<void>
  /**
   * `GET /api/notifications/stream`: live events, each once and in order, from `since` or from now
   * on. It reconnects and resumes by itself; `break` closes it. Throws the reason of an aborted
   * signal, UNAUTHORIZED if the proof has ended (`reason` says how), and every error that a retry
   * would not fix.
   *
   * In a browser, all tabs of a user share one stream; a loop that falls 1,000 events behind gets a
   * `resync`. Elsewhere, a loop that reads nothing for 30 s is disconnected, and resumes.
   *
   * @example for await (const event of carillon.inbox.subscribe()) console.log(event.type)
   */
  subscribe(options?: StreamOptions): AsyncIterableIterator<wire.StreamEvent>
}

export function inboxOf(requests: Requests): Inbox {
  const list = ({ signal, ...query }: ListOptions = {}) =>
    requests.data<wire.NotificationPage>({ path: 'api/notifications', query, signal })
  const post = (act: string, call: Pick<Call, 'body' | 'query' | 'signal'> = {}) =>
    requests.nothing({ ...call, method: 'POST', path: `api/notifications/${act}` })
  const patch = (act: string) => async (id: string, call?: Pick<Call, 'body' | 'signal'>) =>
    requests.nothing({ ...call, method: 'PATCH', path: `${pathOf(id)}/${act}` })

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
    read: patch('read'),
    markUnread: patch('unread'),
    archive: patch('archive'),
    unarchive: patch('unarchive'),
    snooze: (id, until, options) => patch('snooze')(id, { ...options, body: { until } }),
    remove: async (id, options) =>
      requests.nothing({ ...options, method: 'DELETE', path: pathOf(id) }),
    readAll: ({ signal, ...query } = {}) => post('read-all', { query, signal }),
    archiveRead: (options) => post('archive-read', options),
    seen: (throughSeq, options) => post('seen', { ...options, body: { throughSeq } }),
    undo: (options) => post('undo', options),
    changes: ({ signal, ...query }) =>
      requests.data({ path: 'api/notifications/changes', query, signal }),
    preferences: (options) => requests.data({ ...options, path: preferences }),
    setPreferences: (change, options) =>
      requests.nothing({ ...options, method: 'PUT', path: preferences, body: change }),
    subscribe: (options) => openSharedStream(requests, options),
  }
}

const preferences = 'api/me/preferences'

function pathOf(id: string): string {
  return `api/notifications/${idInPath(id, 'You have no such notification')}`
}
