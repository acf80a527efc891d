// One user's inbox. Every query is scoped to the user: another user's notification looks like one that does not exist.
import { BoundedCache } from '../basics/bounded-cache.ts'
import { CarillonError } from '../basics/errors.ts'
import type { Store } from '../store/store.ts'
import { readCounts, readNotification, readPage } from './inbox.store.ts'
import type { Page, PageRequest } from './inbox-state.ts'
import { inLanguageOf } from './language.ts'
import { markAllRead, markRead, markUnread, undoReadAll } from './marks.store.ts'
import { newestIdIn } from './notification-json.ts'

/** A user and, if it was read together with the proof, the version of the inbox. */
export type Reader = { userId: string; inboxVersion?: number }

/**
 * A page as it is sent. It is current while the inbox has this `version`. A kept one is bytes: it is not encoded for each response,
 * and lies outside of the heap that the garbage collector copies.
 */
export type RenderedPage = { version: number; json: string | Buffer; etag: string }

type Covered = { throughId: string | null; throughSeq?: number; categories?: readonly string[] | undefined }

const maxCachedBytes = 16 * 1024 * 1024

export class Inbox {
  readonly #store: Store
  readonly #now: () => number
  /** The first pages of each user, by `variantOf` their query. */
  readonly #firstPages = new BoundedCache<Map<number, RenderedPage>>(maxCachedBytes)

  constructor({ store, now }: { store: Store; now: () => number }) {
    this.#store = store
    this.#now = now
    store.onChange((signal) => {
      // After a failover or a restore, another change may have the version of a kept page.
      if (signal.about === 'anything') this.#firstPages.clear()
      // Not for correctness, since the version is always compared: it saves the read that would find the page outdated.
      else if (signal.about === 'inbox') this.#firstPages.delete(signal.userId)
    })
  }

  /** Newest first; `categories` are distinct. A kept page is sent again while the inbox has its version. */
  async list({ userId, inboxVersion }: Reader, request: PageRequest): Promise<RenderedPage> {
    const kept = isKept(request) ? this.#firstPages.get(userId)?.get(variantOf(request)) : undefined
    if (kept !== undefined && kept.version === inboxVersion) return kept
    // The store compares the version only if it was not read with the proof: a page that has changed then needs one round trip.
    const unlessVersion = inboxVersion === undefined ? kept?.version : undefined
    const page = await this.#store.read(readPage, { ...request, userId, unlessVersion })
    if (page === 'unchanged') return kept as RenderedPage
    const items = await inLanguageOf(this.#store, userId, page.items)
    const rendered = render({ ...page, items }, request, userId)
    return isKept(request) ? this.#keep(userId, request, rendered) : rendered
  }

  #keep(userId: string, request: PageRequest, rendered: RenderedPage): RenderedPage {
    const page = { ...rendered, json: bytesOf(String(rendered.json)) }
    const pages = this.#firstPages.get(userId) ?? new Map<number, RenderedPage>()
    pages.set(variantOf(request), page)
    const weight = pages.values().reduce((sum, { json }) => sum + json.length, 0)
    this.#firstPages.set(userId, pages, weight)
    return page
  }

  /** The notification as JSON text. Throws NOT_FOUND for an unknown id, and likewise for another user's. */
  async one({ userId }: Reader, id: string): Promise<string> {
    const text = await this.#store.read(readNotification, { userId, id })
    if (text === undefined) throw notFound()
    return inLanguageOf(this.#store, userId, text)
  }

  async counts({ userId }: Reader) {
    const { inbox, categories } = await this.#store.read(readCounts, userId)
    return { total: inbox.total, unread: inbox.unread, categories }
  }

  /** Repeating changes nothing and keeps the first `readAt`. Throws NOT_FOUND. */
  async read({ userId }: Reader, id: string): Promise<void> {
    const outcome = await this.#store.write(markRead, { userId, id, at: this.#now() })
    if (outcome === 'absent') throw notFound()
  }

  /** The notification stays unread until it is marked as read or the next read-all covers it. Repeating changes nothing. Throws NOT_FOUND. */
  async unread({ userId }: Reader, id: string): Promise<void> {
    const outcome = await this.#store.write(markUnread, { userId, id })
    if (outcome === 'absent') throw notFound()
  }

  /**
   * Marks all as read, or all up to `throughSeq` or the notification `throughId`; with `categories`, only those of these. Throws
   * NOT_FOUND if that one does not exist.
   */
  async readAll({ userId }: Reader, covered: Covered): Promise<void> {
    const outcome = await this.#store.write(markAllRead, { userId, ...covered, at: this.#now() })
    if (outcome === 'absent') throw notFound()
  }

  /** Takes back the last read-all. Repeating changes nothing. Throws CONFLICT if there was none, or it is older than ten minutes. */
  async undo({ userId }: Reader): Promise<void> {
    const outcome = await this.#store.write(undoReadAll, { userId, at: this.#now() })
    if (outcome === 'nothing')
      throw new CarillonError(
        'CONFLICT',
        'There is nothing to undo: only the last "mark all as read" can be taken back, within ten minutes',
      )
  }
}

/** First pages, without filters that an inbox can have many of. Deeper pages are rarely requested twice. */
function isKept(request: PageRequest): boolean {
  return 'page' in request && request.page === 1 && request.status !== 'read' && request.categories === undefined
}

function variantOf({ limit, status }: PageRequest): number {
  return status === 'unread' ? -limit : limit
}

function notFound(): CarillonError {
  return new CarillonError('NOT_FOUND', 'You have no such notification')
}

function render({ inbox, total, items, next }: Page, request: PageRequest, userId: string): RenderedPage {
  const hasMore = 'page' in request ? request.page * request.limit < total : next !== null
  const state = `"total":${total},"hasMore":${hasMore},"unread":${inbox.unread},"version":${inbox.version}`
  const json = `{"success":true,"data":{"items":${items},${state},"next":${next === null ? null : `"${next}"`}}}`
  // Has the user, so that a browser whose user changes does not take one user's page for another's, and the newest notification,
  // since after a lost disk another change can have the same version. Of each UUID the last 12 characters, which are random.
  const etag = `"${userId.slice(-12)}-${inbox.version}-${newestIdIn(items)?.slice(-12) ?? ''}"`
  return { version: inbox.version, json, etag }
}

/** Not from Buffer's pool: a small page that is kept would keep all of the pool's part that it lies in. */
function bytesOf(json: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(json))
  bytes.write(json)
  return bytes
}
