// Reads a deep page of the unread notifications of an inbox in which some were read one by one. It first brings the counts
// per block up to date, a few at a time, so that other requests are served in between; then one read returns the page.
import { yieldToEventLoop } from '../../../event-loop.ts'
import type { InboxState, Page, PageQuery } from '../../store.ts'
import { blockSize, maxChangesBehind, type UnreadBlocks, type UnreadPlace } from '../../unread-blocks.ts'
import type { Reader } from '../connection.ts'
import { inboxOf } from './pages.ts'

/** Blocks that are counted together with the read of the page, at 20 us each. */
const maxBlocksAtOnce = 8

export const unreadInBlock = `
  select count(*) from notification n where n.user_id = ?1 and n.seq > ?2 and n.seq <= ?3 and n.read_at is null`
export const changedSeqs = 'select n.seq from notification n where n.user_id = ?1 and n.changed_version > ?2'

/** `readAt` reads the page at the place that the counts give. */
export async function readDeepUnread(
  reader: Reader,
  query: PageQuery,
  readAt: (place: UnreadPlace) => Page | 'unchanged' | 'uncounted',
): Promise<Page | 'unchanged'> {
  const { userId } = query
  const skip = 'page' in query ? (query.page - 1) * query.limit : 0
  let cache = reader.unreadBlocks
  let counted: UnreadBlocks | undefined
  for (;;) {
    if (cache !== reader.unreadBlocks) counted = undefined
    cache = reader.unreadBlocks
    // There is no await until the page was read, so all of it sees one version of the inbox.
    const inbox = inboxOf(reader, userId)
    // The request keeps its own counts, even if other inboxes push them out of the cache. Otherwise many such requests would
    // count for ever.
    const blocks = counted ?? cache.of(userId, inbox)
    counted = blocks
    advance(reader, userId, { inbox, blocks })
    cache.keep(userId, blocks, inbox)
    if (blocks.outdated.size <= maxBlocksAtOnce) {
      for (const block of [...blocks.outdated]) count(reader, userId, { blocks, block })
      const page = readAt(blocks.placeOf(inbox, skip))
      if (page !== 'uncounted') return page
    }
    for (const block of [...blocks.outdated]) {
      count(reader, userId, { blocks, block })
      await yieldToEventLoop()
    }
  }
}

function advance(reader: Reader, userId: string, { inbox, blocks }: { inbox: InboxState; blocks: UnreadBlocks }): void {
  const behind = inbox.version - (blocks.inbox?.version ?? Number.NEGATIVE_INFINITY)
  if (behind <= 0) return
  const isFar = behind > maxChangesBehind
  const changed = isFar ? undefined : reader.all<[number]>(changedSeqs, userId, inbox.version - behind)
  blocks.advance(inbox, changed?.flat())
}

function count(reader: Reader, userId: string, { blocks, block }: { blocks: UnreadBlocks; block: number }): void {
  const row = reader.one<[number]>(unreadInBlock, userId, block * blockSize, (block + 1) * blockSize)
  blocks.set(block, row?.[0] ?? 0)
}
