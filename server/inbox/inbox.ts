// One user's inbox. Every query is scoped to the user: others' notifications look missing.
import { BoundedCache } from '../basics/bounded-cache.ts'
import { counts } from '../basics/counts.ts'
import { CarillonError, conflict, type Fault, invalidField } from '../basics/errors.ts'
import { endOfTurn } from '../basics/event-loop.ts'
import type { Store, WriteOperation } from '../store/store.ts'
import { archiveRead, markAllRead } from './bulk/bulk.store.ts'
import { BulkActs } from './bulk/bulk-acts.ts'
import { undo } from './bulk/undo.store.ts'
import { readCounts, readLocale, readNotification, readPage, readVersion } from './inbox.store.ts'
import type { MarkAllRead, Page, PageRequest } from './inbox-state.ts'
import {
  archive,
  markRead,
  markSeen,
  markUnread,
  remove,
  snooze,
  unarchive,
} from './marks.store.ts'
import { localize, mayHaveTexts, newestIdIn } from './notification-json.ts'

export type Reader = { userId: string; inboxVersion?: number }

/** A kept page is bytes: encoded once, and outside of the garbage collector's heap. */
type Rendered = { version: number; json: string | Buffer }
type RenderedPage = Rendered & { etag: string }
/** First pages by `variantOf` their query, and the counts. */
type Kept = { pages: Map<string, RenderedPage>; counts: Rendered | undefined }

type Change<More> = WriteOperation<More & { userId: string; at: number }, unknown>

const acts = new Map<unknown, keyof typeof counts.acts>([
  [markRead, 'read'],
  [markUnread, 'unread'],
  [archive, 'archive'],
  [unarchive, 'unarchive'],
  [remove, 'delete'],
  [markSeen, 'seen'],
])

const longestSnooze = 366 * 24 * 3_600_000
const maxVariants = 32
const maxCachedBytes = 16 * 1024 * 1024
/** An entry of a user takes so much beside the texts. */
const bytesOfEntry = 1_024

export class Inbox {
  readonly #store: Store
  readonly #now: () => number
  /** By user id. An entry that may be wrong is replaced: running reads do not reach the new one. */
  #kept = new BoundedCache<Kept>(maxCachedBytes)
  readonly #bulkActs: BulkActs

  constructor({ store, now }: { store: Store; now: () => number }) {
    this.#store = store
    this.#now = now
    this.#bulkActs = new BulkActs(store)
    store.onChange((signal) => {
      // After a failover or restore, another change may have a kept page's version.
      if (signal.about === 'anything') this.#kept = new BoundedCache(maxCachedBytes)
      // Saves reading the version.
      else if (signal.about === 'inbox') this.#kept.delete(signal.userId)
    })
  }

  async list(reader: Reader, request: PageRequest): Promise<RenderedPage> {
    const { userId } = reader
    const cache = this.#kept
    const kept = isKept(request) ? cache.get(userId)?.pages.get(variantOf(request)) : undefined
    if (kept !== undefined && kept.version === (await this.#versionOf(reader, kept))) return kept
    const page = await this.#store.read(readPage, { ...request, userId })
    // So a proxy on this machine wakes once for the pages of many requests.
    await endOfTurn()
    const first = render(page, request, userId)
    const rendered = mayHaveTexts(first.json)
      ? render(
          { ...page, items: localize(page.items, await this.#store.read(readLocale, userId)) },
          request,
          userId,
        )
      : first
    if (!isKept(request)) return rendered
    const sent = { ...rendered, json: bytesOf(rendered.json) }
    const { pages, counts: keptCounts } = cache.get(userId) ?? nothingKept()
    if (pages.size >= maxVariants) pages.clear()
    keep(cache, userId, { pages: pages.set(variantOf(request), sent), counts: keptCounts })
    return sent
  }

  #versionOf({ userId, inboxVersion }: Reader, kept: Rendered): number | Promise<number> {
    return inboxVersion ?? this.#store.read(readVersion, { userId, kept })
  }

  async one({ userId }: Reader, id: string): Promise<string> {
    const text = await this.#store.read(readNotification, { userId, id })
    if (text === undefined) throw notFound()
    return mayHaveTexts(text) ? localize(text, await this.#store.read(readLocale, userId)) : text
  }

  async counts(reader: Reader): Promise<Rendered> {
    const { userId } = reader
    const cache = this.#kept
    const kept = cache.get(userId)?.counts
    if (kept !== undefined && kept.version === (await this.#versionOf(reader, kept))) return kept
    const { inbox, categories } = await this.#store.read(readCounts, userId)
    const { version, total, unread, unseen, archived, snoozed } = inbox
    const data = { total, unread, unseen, archived, snoozed, categories }
    const rendered = { version, json: JSON.stringify({ success: true, data }) }
    const { pages } = cache.get(userId) ?? nothingKept()
    keep(cache, userId, { pages, counts: rendered })
    return rendered
  }

  /** Throws NOT_FOUND, or CONFLICT for a security notice that has to stay. */
  async change<More>(operation: Change<More>, { userId }: Reader, more: More): Promise<void> {
    refuse(await this.#store.write(operation, { ...more, userId, at: this.#now() }))
    const act = acts.get(operation)
    if (act !== undefined) counts.acts[act]++
  }

  /** `until`: milliseconds, at most a year away. Throws INVALID_REQUEST, NOT_FOUND or CONFLICT. */
  async snooze({ userId }: Reader, id: string, until: number): Promise<void> {
    const at = this.#now()
    if (!(until > at && until <= at + longestSnooze))
      throw invalidField('until', 'must be in the future and at most a year away')
    refuse(await this.#store.write(snooze, { userId, id, until, at }))
    counts.acts.snooze++
  }

  endBulkActs(): void {
    this.#bulkActs.end()
  }

  /** Throws NOT_FOUND for an unknown `throughId`, TOO_MANY_REQUESTS if several acts wait. */
  async markAllRead(
    { userId }: Reader,
    covered: Omit<MarkAllRead, 'userId' | 'at'>,
  ): Promise<void> {
    refuse(await this.#bulkActs.run(markAllRead, { ...covered, userId, at: this.#now() }))
    counts.acts['read-all']++
  }

  async archiveRead({ userId }: Reader): Promise<void> {
    await this.#bulkActs.run(archiveRead, { userId, at: this.#now() })
    counts.acts['archive-read']++
  }

  /** Throws CONFLICT without an act in the last ten minutes. */
  async undo({ userId }: Reader): Promise<void> {
    if ((await this.#bulkActs.run(undo, { userId, at: this.#now() })) === 'nothing')
      throw conflict(
        'There is nothing to undo: only the last "mark all as read" or "archive all read" can be taken back, within ten minutes',
      )
    counts.acts.undo++
  }
}

function nothingKept(): Kept {
  return { pages: new Map(), counts: undefined }
}

function keep(cache: BoundedCache<Kept>, userId: string, kept: Kept): void {
  const ofPages = kept.pages.values().reduce((sum, { json }) => sum + json.length, 0)
  cache.set(userId, kept, ofPages + (kept.counts?.json.length ?? 0) + bytesOfEntry)
}

function refuse(outcome: unknown): void {
  if (outcome === 'absent') throw notFound()
  if (outcome === 'held')
    throw conflict(
      'A security notice of the service cannot be deleted, archived or snoozed for 24 hours',
      'Mark it as read',
    )
}

/** Lists of several categories are many, and deeper pages rarely repeat. */
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

function render(
  { inbox, total, items, next }: Page,
  request: PageRequest,
  userId: string,
): RenderedPage & { json: string } {
  const hasMore = 'page' in request ? request.page * request.limit < total : next !== null
  const state = `"total":${total},"hasMore":${hasMore},"unread":${inbox.unread},"version":${inbox.version}`
  const json = `${beforeItems}${items},${state},"next":${next === null ? null : `"${next}"`}}}`
  // A browser's user may change. After a lost disk, another change can have this version. A UUID's
  // last 12 characters are random.
  const newestId = newestIdIn(json.slice(beforeItems.length))
  const etag = `"${userId.slice(-12)}-${inbox.version}-${newestId?.slice(-12) ?? ''}"`
  return { version: inbox.version, json, etag }
}

/** A small kept page would keep its part of Buffer's pool. */
function bytesOf(json: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(json))
  bytes.write(json)
  return bytes
}
