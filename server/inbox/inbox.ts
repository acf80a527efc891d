// One user's inbox. Every query is scoped to the user: another user's notification looks like one that does not exist.
import { BoundedCache } from '../bounded-cache.ts'
import { CarillonError } from '../errors.ts'
import { newestIdIn } from '../store/notification-json.ts'
import type { Filter, InboxState, Page, PageRequest, Store } from '../store/store.ts'

/** `page` counts from 1; `before` is the `next` of the page before. `categories` are distinct, and at least one. */
export type ListQuery = { limit: number; status?: 'unread' | 'read'; categories?: readonly string[] } & (
  | { page: number }
  | { before: number }
)

/** A user and, if they were read together with the proof, the state of the inbox and a page of it. */
export type Reader = { userId: string; inbox?: InboxState; read?: { request: PageRequest; page: Page } }

/**
 * A page as it is sent. It is current while the inbox has this `version`. A kept one is bytes: it is not encoded for each response,
 * and lies outside of the heap that the garbage collector copies. `bytes`: the length of `json` in UTF-8. A text of as many
 * characters is ASCII.
 */
export type RenderedPage = { version: number; json: string | Buffer; bytes: number; etag: string }
type NewPage = RenderedPage & { json: string }
type KeptPage = RenderedPage & { json: Buffer }

type Covered = { throughId: string | null; throughSeq?: number; categories?: readonly string[] | undefined }

type InboxStore = Pick<
  Store,
  | 'onChange'
  | 'readPage'
  | 'readNotification'
  | 'readCounts'
  | 'markRead'
  | 'markUnread'
  | 'markAllRead'
  | 'undoReadAll'
>

const maxCachedBytes = 16 * 1024 * 1024

export class Inbox {
  readonly #store: InboxStore
  readonly #now: () => number
  /** The first pages of each user, by `variantOf` their query. */
  readonly #firstPages = new BoundedCache<Map<number, KeptPage>>(maxCachedBytes)

  constructor({ store, now }: { store: InboxStore; now: () => number }) {
    this.#store = store
    this.#now = now
    store.onChange((signal) => {
      // After a failover or a restore, another change may have the version of a kept page.
      if (signal.about === 'anything') this.#firstPages.clear()
      // Not for correctness, since the version is always compared: it saves the read that would find the page outdated.
      else if (signal.about === 'inbox') this.#firstPages.delete(signal.userId)
    })
  }

  /** The page that `list` would have to read for this query; undefined if a kept page may still be current. */
  pageToRead(userId: string, query: ListQuery): PageRequest | undefined {
    return this.#kept(userId, query) === undefined ? requestOf(query) : undefined
  }

  #kept(userId: string, query: ListQuery): KeptPage | undefined {
    return isKept(query) ? this.#firstPages.get(userId)?.get(variantOf(query)) : undefined
  }

  /** Newest first. A kept page is sent again while the inbox has its version. */
  async list(reader: Reader, query: ListQuery): Promise<RenderedPage> {
    const { userId, inbox } = reader
    const kept = this.#kept(userId, query)
    if (kept !== undefined && kept.version === inbox?.version) return kept
    // The store compares the version only if it was not read with the proof: a page that has changed then needs one round trip.
    const unless = inbox === undefined && kept !== undefined ? { unlessVersion: kept.version } : undefined
    const page = readWith(reader, query) ?? (await this.#store.readPage({ userId, ...requestOf(query), ...unless }))
    if (page === 'unchanged') return kept as KeptPage
    const rendered = render(page, query, userId)
    return isKept(query) ? this.#keep(userId, query, rendered) : rendered
  }

  #keep(userId: string, query: ListQuery, rendered: NewPage): KeptPage {
    const kept = { ...rendered, json: bytesOf(rendered) }
    const pages = this.#firstPages.get(userId) ?? new Map<number, KeptPage>()
    pages.set(variantOf(query), kept)
    const weight = pages.values().reduce((sum, { bytes }) => sum + bytes, 0)
    this.#firstPages.set(userId, pages, weight)
    return kept
  }

  /** The notification as JSON text. Throws NOT_FOUND for an unknown id, and likewise for another user's. */
  async one({ userId }: Reader, id: string): Promise<string> {
    const text = await this.#store.readNotification({ userId, id })
    if (text === undefined) throw notFound()
    return text
  }

  async counts({ userId }: Reader) {
    const { inbox, categories } = await this.#store.readCounts(userId)
    return { total: inbox.total, unread: inbox.unread, categories }
  }

  /** Repeating changes nothing and keeps the first `readAt`. Throws NOT_FOUND. */
  async read({ userId }: Reader, id: string): Promise<void> {
    const outcome = await this.#store.markRead({ userId, id, at: this.#now() })
    if (outcome === 'absent') throw notFound()
  }

  /** The notification stays unread until it is marked as read or the next read-all covers it. Repeating changes nothing. Throws NOT_FOUND. */
  async unread({ userId }: Reader, id: string): Promise<void> {
    const outcome = await this.#store.markUnread({ userId, id })
    if (outcome === 'absent') throw notFound()
  }

  /**
   * Marks all as read, or all up to `throughSeq` or the notification `throughId`; with `categories`, only those of these. Throws
   * NOT_FOUND if that one does not exist.
   */
  async readAll({ userId }: Reader, covered: Covered): Promise<void> {
    const outcome = await this.#store.markAllRead({ userId, ...covered, at: this.#now() })
    if (outcome === 'absent') throw notFound()
  }

  /** Takes back the last read-all. Repeating changes nothing. Throws CONFLICT if there was none, or it is older than ten minutes. */
  async undo({ userId }: Reader): Promise<void> {
    const outcome = await this.#store.undoReadAll({ userId, at: this.#now() })
    if (outcome === 'nothing')
      throw new CarillonError(
        'CONFLICT',
        'There is nothing to undo: only the last "mark all as read" can be taken back, within ten minutes',
      )
  }
}

function requestOf(query: ListQuery): PageRequest {
  const { limit, status = 'all', categories } = query
  const filter: Filter = categories === undefined ? { status } : { status, categories }
  return 'page' in query ? { limit, ...filter, page: query.page } : { limit, ...filter, before: query.before }
}

/** The page that was read with the proof, if it is the page of this query. */
function readWith({ read }: Reader, query: ListQuery): Page | undefined {
  if (read === undefined) return undefined
  const { request, page } = read
  if (request.limit !== query.limit || request.status !== (query.status ?? 'all')) return undefined
  if (request.categories?.join('\0') !== query.categories?.join('\0')) return undefined
  if ('page' in request) return 'page' in query && request.page === query.page ? page : undefined
  return 'before' in query && request.before === query.before ? page : undefined
}

/** First pages, without filters that an inbox can have many of. Deeper pages are rarely requested twice. */
function isKept(query: ListQuery): boolean {
  return 'page' in query && query.page === 1 && query.status !== 'read' && query.categories === undefined
}

function variantOf({ limit, status }: ListQuery): number {
  return status === 'unread' ? -limit : limit
}

function notFound(): CarillonError {
  return new CarillonError('NOT_FOUND', 'You have no such notification')
}

function render({ inbox, total, items, itemsBytes, next }: Page, query: ListQuery, userId: string): NewPage {
  const hasMore = 'page' in query ? query.page * query.limit < total : next !== null
  const state = `"total":${total},"hasMore":${hasMore},"unread":${inbox.unread},"version":${inbox.version}`
  const json = `{"success":true,"data":{"items":${items},${state},"next":${next === null ? null : `"${next}"`}}}`
  // Has the user, so that a browser whose user changes does not take one user's page for another's, and the newest notification,
  // since after a lost disk another change can have the same version. Of each UUID the last 12 characters, which are random.
  const etag = `"${userId.slice(-12)}-${inbox.version}-${newestIdIn(items)?.slice(-12) ?? ''}"`
  // A page of another length than in the file is counted: a damaged text is sent with other bytes than the file has, and a wrong
  // Content-Length would mix two responses of a connection.
  const isAscii = itemsBytes === items.length
  return { version: inbox.version, json, bytes: isAscii ? json.length : Buffer.byteLength(json), etag }
}

/** Not from Buffer's pool: a small page would keep all of the pool's part that it lies in. */
function bytesOf({ json, bytes }: NewPage): Buffer {
  const buffer = Buffer.allocUnsafeSlow(bytes)
  buffer.write(json, json.length === bytes ? 'latin1' : 'utf8')
  return buffer
}
