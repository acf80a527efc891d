// One user's inbox. Every query is scoped to the user: another user's notification looks like one that does not exist.
import { BoundedCache } from '../basics/bounded-cache.ts'
import { CarillonError, conflict, type Fault, invalidField } from '../basics/errors.ts'
import { endOfTurn } from '../basics/event-loop.ts'
import type { Store, WriteOperation } from '../store/store.ts'
import { readCounts, readNotification, readPage } from './inbox.store.ts'
import type { Page, PageRequest } from './inbox-state.ts'
import { readLocale } from './language.ts'
import { localize, mayHaveTexts, newestIdIn } from './notification-json.ts'
import { snooze } from './places.store.ts'
import { undo } from './undo.store.ts'

/** `inboxVersion`: of the inbox, if it was read together with the proof. */
export type Reader = { userId: string; inboxVersion?: number }

/**
 * A page as it is sent. It is current while the inbox has this `version`. A kept one is bytes: it is not encoded for each response,
 * and lies outside of the heap that the garbage collector copies.
 */
type RenderedPage = { version: number; json: string | Buffer; etag: string }
type Rendered = RenderedPage & { json: string }

type Change<More> = WriteOperation<More & { userId: string; at: number }, unknown>

const longestSnooze = 366 * 24 * 3_600_000
/** Kept pages of a user. With one more, they are forgotten. */
const maxVariants = 32
const maxCachedBytes = 16 * 1024 * 1024

export class Inbox {
  readonly #store: Store
  readonly #now: () => number
  /** The first pages of each user, by `variantOf` their query. */
  readonly #firstPages = new BoundedCache<Map<string, RenderedPage>>(maxCachedBytes)

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
    const unless = inboxVersion === undefined ? kept : undefined
    const page = await this.#store.read(readPage, { ...request, userId, unless })
    if (page === 'unchanged') return kept as RenderedPage
    // A client on this machine, such as a proxy, then wakes once for the pages of many requests.
    await endOfTurn()
    const first = render(page, request, userId)
    const rendered = mayHaveTexts(first.json)
      ? render({ ...page, items: localize(page.items, await this.#store.read(readLocale, userId)) }, request, userId)
      : first
    return isKept(request) ? this.#keep(userId, request, rendered) : rendered
  }

  #keep(userId: string, request: PageRequest, rendered: Rendered): RenderedPage {
    const page = { ...rendered, json: bytesOf(rendered.json) }
    const known = this.#firstPages.get(userId)
    const pages = known !== undefined && known.size < maxVariants ? known : new Map<string, RenderedPage>()
    pages.set(variantOf(request), page)
    const weight = pages.values().reduce((sum, { json }) => sum + json.length, 0)
    this.#firstPages.set(userId, pages, weight)
    return page
  }

  /** The notification as JSON text. Throws NOT_FOUND for an unknown id, and likewise for another user's. */
  async one({ userId }: Reader, id: string): Promise<string> {
    const text = await this.#store.read(readNotification, { userId, id })
    if (text === undefined) throw notFound()
    return mayHaveTexts(text) ? localize(text, await this.#store.read(readLocale, userId)) : text
  }

  async counts({ userId }: Reader) {
    const { inbox, categories } = await this.#store.read(readCounts, userId)
    const { total, unread, unseen, archived, snoozed } = inbox
    return { total, unread, unseen, archived, snoozed, categories }
  }

  /**
   * Changes the inbox, such as by `markAllRead`. Repeating changes nothing. Throws NOT_FOUND for a notification that does not exist, and
   * CONFLICT for a security notice that has to stay.
   */
  async change<More>(operation: Change<More>, { userId }: Reader, more: More): Promise<void> {
    refuse(await this.#store.write(operation, { ...more, userId, at: this.#now() }))
  }

  /** `until` in milliseconds (NaN is refused), in the future and at most a year away. Throws INVALID_REQUEST, NOT_FOUND or CONFLICT. */
  async snooze({ userId }: Reader, id: string, until: number): Promise<void> {
    const at = this.#now()
    if (!(until > at && until <= at + longestSnooze))
      throw invalidField('until', 'must be in the future and at most a year away')
    refuse(await this.#store.write(snooze, { userId, id, until, at }))
  }

  /** Takes back the last read-all or archive-read. Repeating changes nothing. Throws CONFLICT if there was none in the last ten minutes. */
  async undo({ userId }: Reader): Promise<void> {
    if ((await this.#store.write(undo, { userId, at: this.#now() })) === 'nothing')
      throw conflict(
        'There is nothing to undo: only the last "mark all as read" or "archive all read" can be taken back, within ten minutes',
      )
  }
}

/** Throws if an operation changed nothing for a reason that the caller has to know. */
function refuse(outcome: unknown): void {
  if (outcome === 'absent') throw notFound()
  if (outcome === 'held')
    throw conflict(
      'A security notice of the service cannot be deleted, archived or snoozed for 24 hours',
      'Mark it as read',
    )
}

/** First pages, of one category at most: an inbox can have many lists of several. Deeper pages are rarely requested twice. */
function isKept(request: PageRequest): boolean {
  return 'page' in request && request.page === 1 && (request.categories?.length ?? 0) < 2
}

function variantOf({ limit, status, categories = [] }: PageRequest): string {
  return `${limit} ${status} ${categories}`
}

export function notFound(details?: readonly Fault[]): CarillonError {
  return new CarillonError('NOT_FOUND', 'You have no such notification', { details })
}

const beforeItems = '{"success":true,"data":{"items":'

function render({ inbox, total, items, next }: Page, request: PageRequest, userId: string): Rendered {
  const hasMore = 'page' in request ? request.page * request.limit < total : next !== null
  const state = `"total":${total},"hasMore":${hasMore},"unread":${inbox.unread},"version":${inbox.version}`
  const json = `${beforeItems}${items},${state},"next":${next === null ? null : `"${next}"`}}}`
  // Has the user, so that a browser whose user changes does not take one user's page for another's, and the newest notification,
  // since after a lost disk another change can have the same version. Of each UUID the last 12 characters, which are random.
  // Read in `json`, which is copied into one piece anyway: `items` would be copied for itself.
  const newestId = newestIdIn(json.slice(beforeItems.length))
  const etag = `"${userId.slice(-12)}-${inbox.version}-${newestId?.slice(-12) ?? ''}"`
  return { version: inbox.version, json, etag }
}

/** Not from Buffer's pool: a small page that is kept would keep all of the pool's part that it lies in. */
function bytesOf(json: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(json))
  bytes.write(json)
  return bytes
}
