// Reads a deep page of an inbox in which sequence numbers are missing (page-blocks.ts). It first brings the counts per block
// up to date, a few at a time, so that other requests are served in between; then one read returns the page.
import { yieldToEventLoop } from '../../../event-loop.ts'
import { blockSize, maxChangesBehind, type PageBlocks, type PagePlace } from '../../page-blocks.ts'
import type { Page, PageQuery } from '../../store.ts'
import type { Reader } from '../connection.ts'
import { type FoundInbox, inboxOf } from './found-inbox.ts'

/** Blocks that are counted together with the read of the page, at 20 us each. */
const maxBlocksAtOnce = 8

export const unreadInBlock = `
  select count(*) from notification n where n.user_number = ?1 and n.seq > ?2 and n.seq <= ?3 and n.read_at is null`
export const allInBlock = `
  select count(*) from notification n where n.user_number = ?1 and n.seq > ?2 and n.seq <= ?3`
export const changedSeqs = 'select n.seq from notification n where n.user_number = ?1 and n.changed_version > ?2'

/** `readAt` reads the page at the place that the counts give. */
export async function readDeepPage(
  reader: Reader,
  query: PageQuery,
  readAt: (place: PagePlace) => Page | 'unchanged' | 'uncounted',
): Promise<Page | 'unchanged'> {
  const { userId } = query
  const skip = 'page' in query ? (query.page - 1) * query.limit : 0
  let cache = reader.pageBlocks
  let counted: PageBlocks | undefined
  for (;;) {
    if (cache !== reader.pageBlocks) counted = undefined
    cache = reader.pageBlocks
    // There is no await until the page was read, so all of it sees one version of the inbox.
    const { user, inbox } = inboxOf(reader, userId)
    // The request keeps its own counts, even if other inboxes push them out of the cache. Otherwise many such requests would
    // count for ever.
    const blocks = counted ?? cache.of(query, inbox)
    counted = blocks
    advance(reader, { user, inbox }, blocks)
    cache.keep(query, blocks, inbox)
    if (blocks.outdated.size <= maxBlocksAtOnce) {
      for (const block of [...blocks.outdated]) count(reader, user, { blocks, block })
      const page = readAt(blocks.placeOf(inbox, skip))
      if (page !== 'uncounted') return page
    }
    for (const block of [...blocks.outdated]) {
      count(reader, user, { blocks, block })
      await yieldToEventLoop()
    }
  }
}

function advance(reader: Reader, { user, inbox }: FoundInbox, blocks: PageBlocks): void {
  const behind = inbox.version - (blocks.inbox?.version ?? Number.NEGATIVE_INFINITY)
  if (behind <= 0) return
  blocks.advance(inbox, changedSince(reader, user, { blocks, behind, version: inbox.version - behind }))
}

type Since = { blocks: PageBlocks; behind: number; version: number }

/** Only of unread notifications: being read changes no count of all. */
function changedSince(reader: Reader, user: number, { blocks, behind, version }: Since): number[] | undefined {
  if (!blocks.unreadOnly) return []
  return behind > maxChangesBehind ? undefined : reader.all<[number]>(changedSeqs, user, version).flat()
}

function count(reader: Reader, user: number, { blocks, block }: { blocks: PageBlocks; block: number }): void {
  const sql = blocks.unreadOnly ? unreadInBlock : allInBlock
  const row = reader.one<[number]>(sql, user, block * blockSize, (block + 1) * blockSize)
  blocks.set(block, row?.[0] ?? 0)
}
