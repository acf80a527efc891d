// A deep page of the unread notifications of an inbox in which some were read one by one: its counts per block are
// brought up to date, then the page is read from the place that they give. All of it sees one moment of the database.
import { toInbox } from '../operations.ts'
import type { InboxState, Page, PageQuery } from '../store.ts'
import { blockSize, maxChangesBehind, type UnreadBlocks } from '../unread-blocks.ts'
import type { Database, Read, Row } from './connection/connection.ts'
import { pageParameters, toPage, unreadFromText, withInbox } from './pages.ts'

/** Blocks that one statement counts: some 50 ms, far from its time limit. */
const maxBlocksAtOnce = 1_000

export const changedSeqsText = `
  with ${withInbox}
  select box.*, array(
    select n.seq from notification n where n.user_id = $1 and n.changed_version > $2 order by n.changed_version limit $3
  ) from box`
export const unreadInBlocksText = `
  select block, (
    select count(*) from notification n where n.user_id = $1 and n.read_at is null
      and n.seq > block * ${blockSize}::bigint and n.seq <= (block + 1) * ${blockSize}::bigint
  ) from unnest($2::bigint[]) as block`

/** `inbox` is the state in which the page was found to be deep. */
export function readDeepUnread(db: Database, query: PageQuery, inbox: InboxState): Promise<Page> {
  const { userId } = query
  const [limit, skip] = pageParameters(query)
  // A copy: other requests for this inbox may be between two reads.
  const blocks = db.unreadBlocks.of(userId, inbox).copy()
  return db.atOneMoment(async (read) => {
    const counted = await advance(read, { userId, blocks })
    db.unreadBlocks.keep(userId, blocks, counted)
    const place = blocks.placeOf(counted, skip)
    const [row] = await read('unreadFrom', unreadFromText, [userId, limit, place.highest, place.skip])
    return toPage(row as Row)
  })
}

async function advance(read: Read, { userId, blocks }: { userId: string; blocks: UnreadBlocks }): Promise<InboxState> {
  const since = blocks.inbox?.version
  const values = [userId, since ?? Number.MAX_SAFE_INTEGER, maxChangesBehind + 1]
  const row = (await read('changedSeqs', changedSeqsText, values))[0] as Row
  const inbox = toInbox(row)
  const changed = (row[6] as unknown as string[]).map(Number)
  blocks.advance(inbox, since === undefined || changed.length > maxChangesBehind ? undefined : changed)
  const outdated = [...blocks.outdated]
  for (let at = 0; at < outdated.length; at += maxBlocksAtOnce) {
    const counts = await read('unreadInBlocks', unreadInBlocksText, [userId, outdated.slice(at, at + maxBlocksAtOnce)])
    for (const [block, count] of counts) blocks.set(block as number, count as number)
  }
  return inbox
}
