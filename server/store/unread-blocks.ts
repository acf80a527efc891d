// Where does a numbered page of unread notifications begin, if some in between were read one by one? Each block of
// sequence numbers has a count of its unread notifications, kept in memory, so that a deep page adds counts up instead
// of passing over every unread notification above it. The engines read the counts; this file knows which counts are
// missing or outdated, and adds them up (decision 0025).
import { BoundedCache } from '../bounded-cache.ts'
import type { InboxState } from './store.ts'

/** Sequence numbers per block: passing over this many costs about as much as a page. */
export const blockSize = 256
/** The limit of all counts in memory, at 8 bytes each. They cover 25 million notifications. */
const maxBlocks = 100_000
/** If an inbox has changed more often since its counts were read, all of them are read again. */
export const maxChangesBehind = 1_000

/** The page's notifications are the first ones at or below `highest`, after `skip` unread ones. `skip` < blockSize. */
export type UnreadPlace = { highest: number; skip: number }

/** The block of a sequence number; block b holds b * blockSize + 1 to (b + 1) * blockSize. */
export function blockOf(seq: number): number {
  return Math.floor((seq - 1) / blockSize)
}

/** The counts of one inbox at one of its versions, except for outdated ones. */
export class UnreadBlocks {
  /** They count notifications without a read_at, including those that a read-all covers. */
  #counts: number[] = []
  readonly outdated = new Set<number>()
  /** The inbox at the last `advance`. */
  inbox: InboxState | undefined

  /** For an engine that awaits between `advance` and `set`: another request may do the same at that time. */
  copy(): UnreadBlocks {
    const copy = new UnreadBlocks()
    copy.#counts = [...this.#counts]
    for (const block of this.outdated) copy.outdated.add(block)
    copy.inbox = this.inbox
    return copy
  }

  /**
   * From now on the counts belong to `inbox`. Those of blocks with a notification in `changed`, or with a new one, are
   * outdated. `changed` are the sequence numbers of notifications that changed after `this.inbox`; undefined if there are
   * too many to list, or if there are no counts yet.
   */
  advance(inbox: InboxState, changed: readonly number[] | undefined): void {
    const from = changed === undefined ? inbox.readThrough + 1 : Math.max(this.inbox?.lastSeq ?? 0, 1)
    for (let block = blockOf(from); block <= blockOf(inbox.lastSeq); block++) this.outdated.add(block)
    for (const seq of changed ?? []) this.outdated.add(blockOf(seq))
    // A read-all covers every notification of these blocks.
    for (const block of this.outdated) if (block < blockOf(inbox.readThrough + 1)) this.outdated.delete(block)
    this.inbox = inbox
  }

  /** Sets a count that was read at the version of `this.inbox` or later. */
  set(block: number, count: number): void {
    this.#counts[block] = count
    this.outdated.delete(block)
  }

  /** `skip` unread notifications of `inbox` lie above the page. No count may be outdated. */
  placeOf(inbox: InboxState, skip: number): UnreadPlace {
    const place = { highest: inbox.lastSeq, skip }
    // The loop stops before the lowest block: a read-all may cover a part of it, so its count may be too high; it is not needed.
    for (let block = blockOf(inbox.lastSeq); block > blockOf(inbox.readThrough + 1); block--) {
      const count = this.#counts[block] ?? 0
      if (count > place.skip) break
      place.skip -= count
      place.highest = block * blockSize
    }
    return place
  }
}

/** The counts of the inboxes of which a deep page was read recently. */
export class UnreadBlocksCache {
  readonly #cache: BoundedCache<UnreadBlocks>

  /** `bound` limits the blocks of all inboxes together. */
  constructor(bound = maxBlocks) {
    this.#cache = new BoundedCache(bound)
  }

  /** Returns new blocks without counts if none are known, or if they are of a later version: then the database was restored. */
  of(userId: string, inbox: InboxState): UnreadBlocks {
    const known = this.#cache.get(userId)
    if (known?.inbox !== undefined && known.inbox.version <= inbox.version) return known
    const blocks = new UnreadBlocks()
    this.keep(userId, blocks, inbox)
    return blocks
  }

  keep(userId: string, blocks: UnreadBlocks, inbox: InboxState): void {
    this.#cache.set(userId, blocks, blockOf(inbox.lastSeq) + 1)
  }

  clear(): void {
    this.#cache.clear()
  }
}
