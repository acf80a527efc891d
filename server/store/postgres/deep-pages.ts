// A deep page of an inbox in which sequence numbers are missing (page-blocks.ts): its counts per block are brought up to
// date, then the page is read from the place that they give. All of it sees one moment of the database.
import { inboxWidth, toInbox } from '../operations.ts'
import { blockSize, maxChangesBehind, type PageBlocks } from '../page-blocks.ts'
import type { InboxState, Page, PageQuery } from '../store.ts'
import type { Database, Read, Row } from './connection/connection.ts'
import { fromStatement, pageParameters, toPage, withInbox } from './pages.ts'

/** Blocks that one statement counts: some 50 ms, far from its time limit. */
const maxBlocksAtOnce = 1_000

export const changedSeqsText = `
  with ${withInbox}
  select box.*, array(
    select n.seq from notification n where n.user_id = $1 and n.changed_version > $2 order by n.changed_version limit $3
  ) from box`
const inBlocks = (isCounted: string) => `
  select block, (
    select count(*) from notification n where n.user_id = $1 ${isCounted}
      and n.seq > block * ${blockSize}::bigint and n.seq <= (block + 1) * ${blockSize}::bigint
  ) from unnest($2::bigint[]) as block`
const allInBlocks = { name: 'allInBlocks', text: inBlocks('') }
const unreadInBlocks = { name: 'unreadInBlocks', text: inBlocks('and n.read_at is null') }

/** The statement that counts blocks of all notifications, or of the unread. */
export function countStatement(unreadOnly: boolean) {
  return unreadOnly ? unreadInBlocks : allInBlocks
}

/** `inbox` is the state in which the page was found to be deep. */
export function readDeepPage(db: Database, query: PageQuery, inbox: InboxState): Promise<Page> {
  const { userId } = query
  const [limit, skip] = pageParameters(query)
  // A copy: other requests for this inbox may be between two reads.
  const blocks = db.pageBlocks.of(query, inbox).copy()
  return db.atOneMoment(async (read) => {
    const counted = await advance(read, { userId, blocks })
    db.pageBlocks.keep(query, blocks, counted)
    const place = blocks.placeOf(counted, skip)
    const { name, text } = fromStatement(query.status === 'unread', counted.categoryThrough > 0)
    const [row] = await read(name, text, [userId, limit, place.highest, place.skip])
    return toPage(row as Row)
  })
}

async function advance(read: Read, { userId, blocks }: { userId: string; blocks: PageBlocks }): Promise<InboxState> {
  const since = blocks.inbox?.version
  const values = [userId, since ?? Number.MAX_SAFE_INTEGER, maxChangesBehind + 1]
  const row = (await read('changedSeqs', changedSeqsText, values))[0] as Row
  const inbox = toInbox(row)
  const changed = (row[inboxWidth] as unknown as string[]).map(Number)
  blocks.advance(inbox, since === undefined || changed.length > maxChangesBehind ? undefined : changed)
  const outdated = [...blocks.outdated]
  const { name, text } = countStatement(blocks.unreadOnly)
  for (let at = 0; at < outdated.length; at += maxBlocksAtOnce) {
    const counts = await read(name, text, [userId, outdated.slice(at, at + maxBlocksAtOnce)])
    for (const [block, count] of counts) blocks.set(block as number, count as number)
  }
  return inbox
}
