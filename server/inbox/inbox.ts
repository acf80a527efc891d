// What a person's inbox answers and what he may do with it: list, one, counts, read, read-all. Every call names the
// user first: what is not his is not there.
import { BoundedCache } from '../bounded-cache.ts'
import { CarillonError } from '../errors.ts'
import type { InboxState, Page, Store } from '../store/store.ts'

/** `page` counts from 1; `before` is the `next` of the page before. */
export type ListQuery = { limit: number; status?: 'unread' } & ({ page: number } | { before: number })

/** A reader and, where the proof's look-up came across it, the state of his inbox. */
export type Reader = { userId: string; inbox?: InboxState }

/** A page as it is sent. `version` is the inbox's, which says whether the page is still true. */
export type RenderedPage = { version: number; json: string; etag: string }

type InboxStore = Pick<Store, 'onRing' | 'readPage' | 'readNotification' | 'readCounts' | 'markRead' | 'markAllRead'>

const mostCachedCharacters = 16 * 1024 * 1024

export class Inbox {
  readonly #store: InboxStore
  readonly #now: () => number
  readonly #firstPages = new BoundedCache<RenderedPage>(mostCachedCharacters)

  constructor({ store, now }: { store: InboxStore; now: () => number }) {
    this.#store = store
    this.#now = now
    // After a failover or a restore a version may be reached a second time, by another change.
    store.onRing(({ about }) => about === 'anything' && this.#firstPages.clear())
  }

  /**
   * A page, newest first. A first page that was rendered before is sent again while the inbox has the version it had then;
   * deeper ones are seldom asked twice, and are not kept.
   */
  async list(reader: Reader, query: ListQuery): Promise<RenderedPage> {
    const { userId, inbox } = reader
    const { limit, status } = query
    const key = 'page' in query && query.page === 1 ? `${userId} ${limit} ${status ?? ''}` : undefined
    const known = key === undefined ? undefined : this.#firstPages.get(key)
    if (known !== undefined && known.version === inbox?.version) return known
    const where = 'page' in query ? { page: query.page } : { before: query.before }
    const unless = known && { unlessVersion: known.version }
    const page = await this.#store.readPage({ userId, limit, unreadOnly: status === 'unread', ...unless, ...where })
    if (page === 'unchanged') return known as RenderedPage
    const rendered = render(page, query, userId)
    if (key !== undefined) this.#firstPages.set(key, rendered, rendered.json.length)
    return rendered
  }

  /** The notification as JSON text. Throws NOT_FOUND, for an unknown id and another user's alike. */
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

  /** Everything that has arrived, or everything up to and with `throughId`. Throws NOT_FOUND for an unknown bound. */
  async readAll({ userId }: Reader, throughId: string | null): Promise<void> {
    const outcome = await this.#store.markAllRead({ userId, throughId, at: this.#now() })
    if (outcome === 'absent') throw notFound()
  }
}

function notFound(): CarillonError {
  return new CarillonError('NOT_FOUND', 'You have no such notification')
}

/** The list's answer (docs/guide.md), once for all who ask while the version stands. */
function render({ inbox, items, next }: Page, query: ListQuery, userId: string): RenderedPage {
  const total = query.status === 'unread' ? inbox.unread : inbox.total
  const hasMore = 'page' in query ? query.page * query.limit < total : next !== null
  const state = `"total":${total},"hasMore":${hasMore},"unread":${inbox.unread},"version":${inbox.version}`
  const json = `{"success":true,"data":{"items":${items},${state},"next":${next === null ? null : `"${next}"`}}}`
  // Names the owner too, since a browser that changes users must not take one's page for the other's, and the end of the
  // first id (`[{"id":"<36 characters>"`), since a version that was lost with its disk is reached again by another change.
  const etag = `"${userId.slice(-12)}-${inbox.version}-${items.slice(32, 44)}"`
  return { version: inbox.version, json, etag }
}
