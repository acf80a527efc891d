// What a person's inbox answers and what he may do with it: list, one, counts, read, read-all. Every call names the
// user first: what is not his is not there.
import { BoundedCache } from '../bounded-cache.ts'
import { CarillonError } from '../errors.ts'
import type { InboxState, Page, PageRequest, Store } from '../store/store.ts'

/** `page` counts from 1; `before` is the `next` of the page before. */
export type ListQuery = { limit: number; status?: 'unread' } & ({ page: number } | { before: number })

/** A reader and, if the look-up of the proof read them too, the state of the inbox and a page of it. */
export type Reader = { userId: string; inbox?: InboxState; read?: { request: PageRequest; page: Page } }

/** A page as it is sent. `version` is the inbox's, which says whether the page is still true. */
export type RenderedPage = { version: number; json: string; etag: string }

type InboxStore = Pick<Store, 'onChange' | 'readPage' | 'readNotification' | 'readCounts' | 'markRead' | 'markAllRead'>

const maxCachedCharacters = 16 * 1024 * 1024

export class Inbox {
  readonly #store: InboxStore
  readonly #now: () => number
  /** By user, and then by limit and status. */
  readonly #firstPages = new BoundedCache<Map<number, RenderedPage>>(maxCachedCharacters)

  constructor({ store, now }: { store: InboxStore; now: () => number }) {
    this.#store = store
    this.#now = now
    store.onChange((ring) => {
      // After a failover or a restore a version may be reached a second time, by another change.
      if (ring.about === 'anything') this.#firstPages.clear()
      // Not for correctness, which the version decides: it saves the read that would find the page outdated.
      else if (ring.about === 'inbox') this.#firstPages.delete(ring.userId)
    })
  }

  /** The page that `list` would have to read for this query; undefined if it has one that no change is known of. */
  pageToRead(userId: string, query: ListQuery): PageRequest | undefined {
    return this.#known(userId, query) === undefined ? requestOf(query) : undefined
  }

  #known(userId: string, query: ListQuery): RenderedPage | undefined {
    return 'page' in query && query.page === 1 ? this.#firstPages.get(userId)?.get(variantOf(query)) : undefined
  }

  /**
   * A page, newest first. A first page that was rendered before is sent again while the inbox has the version it had then;
   * deeper ones are seldom asked twice, and are not kept.
   */
  async list(reader: Reader, query: ListQuery): Promise<RenderedPage> {
    const { userId, inbox } = reader
    const known = this.#known(userId, query)
    if (known !== undefined && known.version === inbox?.version) return known
    const page = readWith(reader, query) ?? (await this.#read(reader, query, known))
    if (page === 'unchanged') return known as RenderedPage
    const rendered = render(page, query, userId)
    if ('page' in query && query.page === 1) this.#keep(userId, query, rendered)
    return rendered
  }

  /** The version is compared only if the look-up of the proof has not done so: one round trip for a page that differs. */
  #read({ userId, inbox }: Reader, query: ListQuery, known: RenderedPage | undefined): Promise<Page | 'unchanged'> {
    const unless = inbox === undefined && known !== undefined ? { unlessVersion: known.version } : undefined
    return this.#store.readPage({ userId, ...requestOf(query), ...unless })
  }

  #keep(userId: string, query: ListQuery, rendered: RenderedPage): void {
    const pages = this.#firstPages.get(userId) ?? new Map<number, RenderedPage>()
    pages.set(variantOf(query), rendered)
    let weight = 0
    for (const { json } of pages.values()) weight += json.length
    this.#firstPages.set(userId, pages, weight)
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

function requestOf(query: ListQuery): PageRequest {
  const { limit, status } = query
  const unreadOnly = status === 'unread'
  return 'page' in query ? { limit, unreadOnly, page: query.page } : { limit, unreadOnly, before: query.before }
}

/** The page that was read with the proof, if it is the one that this query names. */
function readWith({ read }: Reader, query: ListQuery): Page | undefined {
  if (read === undefined) return undefined
  const { request, page } = read
  if (request.limit !== query.limit || request.unreadOnly !== (query.status === 'unread')) return undefined
  if ('page' in request) return 'page' in query && request.page === query.page ? page : undefined
  return 'before' in query && request.before === query.before ? page : undefined
}

/** Names a first page among those of one user. */
function variantOf({ limit, status }: ListQuery): number {
  return status === 'unread' ? -limit : limit
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
