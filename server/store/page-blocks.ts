// Where does a numbered page begin if sequence numbers are missing in between: those of notifications that were read one by
// one, on a page of unread ones, and those of notifications that were sent again? Each block of sequence numbers has a count,
// kept in memory, so that a deep page adds counts up instead of passing over every notification above it. The engines read
// the counts; this file knows which counts are missing or outdated, and adds them up (decisions 0025 and 0026).
import { BoundedCache } from '../bounded-cache.ts'
import type { Filter, InboxState } from './store.ts'

/** Sequence numbers per block: passing over this many costs about as much as a page. */
export const blockSize = 256
/** The limit of all counts in memory, at 8 bytes each. They cover 25 million sequence numbers. */
const maxBlocks = 100_000
/** If an inbox has changed more often since its counts were read, all of them are read again. */
export const maxChangesBehind = 1_000

/** The page's notifications are the first ones at or below `highest`, after `skip` others. `skip` < blockSize. */
export type PagePlace = { highest: number; skip: number }
/** Whose notifications are counted, and which: all, or the unread ones. */
export type Counted = { userId: string; status: Filter['status'] }

/** The block of a sequence number; block b holds b * blockSize + 1 to (b + 1) * blockSize. */
function blockOf(seq: number): number {
  return Math.floor((seq - 1) / blockSize)
}

/** No notification with this sequence number or a lower one is counted. */
function floorOf(inbox: InboxState, unreadOnly: boolean): number {
  return unreadOnly ? inbox.readThrough : inbox.firstSeq - 1
}

/** How many unread notifications are above the high-water mark. */
export function unreadAbove(inbox: InboxState): number {
  return inbox.unread - inbox.markedUnread
}

/** Whether the pages of an inbox are ranges of sequence numbers, because none is missing. */
export function isDense(inbox: InboxState, unreadOnly: boolean): boolean {
  return (unreadOnly ? unreadAbove(inbox) : inbox.total) === inbox.lastSeq - floorOf(inbox, unreadOnly)
}

/** The counts of one inbox at one of its versions, except for outdated ones. */
export class PageBlocks {
  /** Those of the unread also count notifications that a read-all covers: all that have no read_at of their own. */
  #counts: number[] = []
  readonly unreadOnly: boolean
  readonly outdated = new Set<number>()
  /** The inbox at the last `advance`. */
  inbox: InboxState | undefined

  constructor(unreadOnly: boolean) {
    this.unreadOnly = unreadOnly
  }

  /** For an engine that awaits between `advance` and `set`: another request may do the same at that time. */
  copy(): PageBlocks {
    const copy = new PageBlocks(this.unreadOnly)
    copy.#counts = [...this.#counts]
    for (const block of this.outdated) copy.outdated.add(block)
    copy.inbox = this.inbox
    return copy
  }

  /**
   * From now on the counts belong to `inbox`. Those of blocks with a notification in `changed`, or with a new one, are
   * outdated. `changed` are the sequence numbers of notifications that were marked as read or unread one by one after
   * `this.inbox`; undefined if there are too many to list.
   */
  advance(inbox: InboxState, changed: readonly number[] | undefined): void {
    const before = this.inbox
    const floor = floorOf(inbox, this.unreadOnly)
    // A notification that was sent again has left its block, and nothing says which one that was.
    const isSentAgain = inbox.lastSeq - (before?.lastSeq ?? 0) !== inbox.total - (before?.total ?? 0)
    // An undo has lowered the high-water mark: `changed` lacks what was marked as read below it, and those blocks were not kept.
    const isUndone = this.unreadOnly && inbox.resetVersion !== before?.resetVersion
    const isUnknown = before === undefined || changed === undefined || isSentAgain || isUndone
    const from = isUnknown ? floor + 1 : Math.max(before.lastSeq, 1)
    for (let block = blockOf(from); block <= blockOf(inbox.lastSeq); block++) this.outdated.add(block)
    for (const seq of changed ?? []) this.outdated.add(blockOf(seq))
    for (const block of this.outdated) if (block < blockOf(floor + 1)) this.outdated.delete(block)
    this.inbox = inbox
  }

  /** Sets a count that was read at the version of `this.inbox` or later. */
  set(block: number, count: number): void {
    this.#counts[block] = count
    this.outdated.delete(block)
  }

  /** `skip` notifications of `inbox` lie above the page. No count may be outdated. */
  placeOf(inbox: InboxState, skip: number): PagePlace {
    const place = { highest: inbox.lastSeq, skip }
    // A read-all may cover a part of the lowest block, so its count may be too high; it is not needed.
    const lowest = blockOf(floorOf(inbox, this.unreadOnly) + 1)
    for (let block = blockOf(inbox.lastSeq); block > lowest; block--) {
      const count = this.#counts[block] ?? 0
      if (count > place.skip) break
      place.skip -= count
      place.highest = block * blockSize
    }
    return place
  }
}

/** The counts of the inboxes of which a deep page was read recently. */
export class PageBlocksCache {
  readonly #cache: BoundedCache<PageBlocks>

  /** `bound` limits the blocks of all inboxes together. */
  constructor(bound = maxBlocks) {
    this.#cache = new BoundedCache(bound)
  }

  /** Returns new blocks without counts if none are known, or if they are of a later version: then the database was restored. */
  of(counted: Counted, inbox: InboxState): PageBlocks {
    const known = this.#cache.get(keyOf(counted))
    if (known?.inbox !== undefined && known.inbox.version <= inbox.version) return known
    const blocks = new PageBlocks(counted.status === 'unread')
    this.keep(counted, blocks, inbox)
    return blocks
  }

  keep(counted: Counted, blocks: PageBlocks, inbox: InboxState): void {
    this.#cache.set(keyOf(counted), blocks, blockOf(inbox.lastSeq) + 1)
  }

  clear(): void {
    this.#cache.clear()
  }
}

function keyOf({ userId, status }: Counted): string {
  return `${status} ${userId}`
}
