// A deep page of the unread notifications of an inbox in which some were read one by one: first its counts per block are
// brought up to date, a few at a time, so that the event loop serves others meanwhile; then one read returns the page.
import { yieldToEventLoop } from '../../../event-loop.ts'
import type { InboxState, Page, PageQuery } from '../../store.ts'
import { maxChangesBehind, type UnreadBlocks, UnreadBlocksCache } from '../../unread-blocks.ts'
import type { Reads } from './reads.ts'

/** Blocks that are counted together with the read of the page, at 20 us each. */
const maxBlocksAtOnce = 8

export class DeepUnread {
  readonly #reads: Reads
  readonly #cache: UnreadBlocksCache
  /** One more after every `forget`. */
  #epoch = 0

  constructor(reads: Reads, cache = new UnreadBlocksCache()) {
    this.#reads = reads
    this.#cache = cache
  }

  /** After another process wrote: it may have restored the database. */
  forget(): void {
    this.#epoch++
    this.#cache.clear()
  }

  async page(query: PageQuery): Promise<Page | 'unchanged'> {
    let epoch = this.#epoch
    let counted: UnreadBlocks | undefined
    for (;;) {
      if (epoch !== this.#epoch) counted = undefined
      epoch = this.#epoch
      // Up to the page there is no await: all of it sees one version of the inbox.
      const inbox = this.#reads.inbox(query.userId)
      // Its own counts go on even if other inboxes drove them out of the cache: otherwise many requests would count for ever.
      const blocks = counted ?? this.#cache.of(query.userId, inbox)
      counted = blocks
      this.#advance(query.userId, { inbox, blocks })
      this.#cache.keep(query.userId, blocks, inbox)
      const page = this.#counted(query, { inbox, blocks })
      if (page !== 'uncounted') return page
      for (const block of [...blocks.outdated]) {
        this.#count(query.userId, { blocks, block })
        await yieldToEventLoop()
      }
    }
  }

  /** The page, if few enough blocks are still to be counted for it. */
  #counted(
    query: PageQuery,
    { inbox, blocks }: { inbox: InboxState; blocks: UnreadBlocks },
  ): Page | 'unchanged' | 'uncounted' {
    if (blocks.outdated.size > maxBlocksAtOnce) return 'uncounted'
    for (const block of [...blocks.outdated]) this.#count(query.userId, { blocks, block })
    const skip = 'page' in query ? (query.page - 1) * query.limit : 0
    return this.#reads.page(query, blocks.placeOf(inbox, skip))
  }

  #advance(userId: string, { inbox, blocks }: { inbox: InboxState; blocks: UnreadBlocks }): void {
    const behind = inbox.version - (blocks.inbox?.version ?? -Infinity)
    if (behind > maxChangesBehind) blocks.advance(inbox, undefined)
    else if (behind > 0) blocks.advance(inbox, this.#reads.changedSeqs(userId, inbox.version - behind))
  }

  #count(userId: string, { blocks, block }: { blocks: UnreadBlocks; block: number }): void {
    blocks.set(block, this.#reads.unreadInBlock(userId, block))
  }
}
