// A deep page of the unread notifications of an inbox in which some were read one by one: first its counts per block are
// brought up to date, a few at a time, so that the event loop serves others meanwhile; then one read returns the page.
import { pause } from '../../slice.ts'
import type { InboxState, Page, PageQuery } from '../store.ts'
import { maxChangesBehind, type UnreadBlocks, UnreadBlocksCache } from '../unread-blocks.ts'
import type { Reads } from './reads.ts'

/** Blocks that are counted together with the read of the page, at 20 us each. */
const maxBlocksAtOnce = 8

export class DeepUnread {
  readonly #reads: Reads
  readonly #cache = new UnreadBlocksCache()

  constructor(reads: Reads) {
    this.#reads = reads
  }

  /** After another process wrote: it may have restored the database. */
  forget(): void {
    this.#cache.clear()
  }

  async page(query: PageQuery): Promise<Page | 'unchanged'> {
    for (;;) {
      // Up to the page there is no await: all of it sees one version of the inbox.
      const inbox = this.#reads.inbox(query.userId)
      const blocks = this.#advance(query.userId, inbox)
      const outdated = [...blocks.outdated]
      if (outdated.length <= maxBlocksAtOnce) {
        for (const block of outdated) this.#count(query.userId, { blocks, block })
        const skip = 'page' in query ? (query.page - 1) * query.limit : 0
        const page = this.#reads.page(query, blocks.placeOf(inbox, skip))
        if (page !== 'uncounted') return page
      }
      for (const block of outdated) {
        this.#count(query.userId, { blocks, block })
        await pause()
      }
    }
  }

  #advance(userId: string, inbox: InboxState): UnreadBlocks {
    const blocks = this.#cache.of(userId, inbox)
    const behind = inbox.version - (blocks.inbox?.version ?? -Infinity)
    if (behind > maxChangesBehind) blocks.advance(inbox, undefined)
    else if (behind > 0) blocks.advance(inbox, this.#reads.changedSeqs(userId, inbox.version - behind))
    return blocks
  }

  #count(userId: string, { blocks, block }: { blocks: UnreadBlocks; block: number }): void {
    blocks.set(block, this.#reads.unreadInBlock(userId, block))
  }
}
