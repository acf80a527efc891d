// A deep page of the unread notifications of an inbox in which some were read one by one: its counts per block are
// brought up to date, then the page is read from where they say. All of it sees one moment of the database.
import type { Row } from '../rows.ts'
import { toInbox } from '../rows.ts'
import type { InboxState, Page, PageQuery } from '../store.ts'
import { maxChangesBehind, type UnreadBlocks, UnreadBlocksCache } from '../unread-blocks.ts'
import { toPage } from './pages.ts'
import type { statements } from './statements.ts'

type Value = string | number | readonly number[]
export type Read = (name: keyof typeof statements, ...values: Value[]) => Promise<Row[]>
type AtOneMoment = (work: (read: Read) => Promise<Page>) => Promise<Page>

/** Blocks that one statement counts: some 50 ms, far from its time limit. */
const maxBlocksAtOnce = 1_000

export class DeepUnread {
  readonly #atOneMoment: AtOneMoment
  readonly #cache = new UnreadBlocksCache()

  constructor(atOneMoment: AtOneMoment) {
    this.#atOneMoment = atOneMoment
  }

  /** After the rings of other processes were missed: the database may be another one. */
  forget(): void {
    this.#cache.clear()
  }

  /** `inbox` is as the read saw it that found the page to be deep. */
  page({ userId, page, limit }: PageQuery & { page: number }, inbox: InboxState): Promise<Page> {
    // A copy: other requests for this inbox may be between two reads.
    const blocks = this.#cache.of(userId, inbox).copy()
    return this.#atOneMoment(async (read) => {
      const counted = await advance(read, { userId, blocks })
      this.#cache.keep(userId, blocks, counted)
      const place = blocks.placeOf(counted, (page - 1) * limit)
      const [row] = await read('unreadFrom', userId, limit, place.highest, place.skip)
      return toPage(row as Row)
    })
  }
}

/** Brings the counts up to date; resolves to the inbox that they belong to. */
async function advance(read: Read, { userId, blocks }: { userId: string; blocks: UnreadBlocks }): Promise<InboxState> {
  const since = blocks.inbox?.version
  const rows = await read('changedSeqs', userId, since ?? Number.MAX_SAFE_INTEGER, maxChangesBehind + 1)
  const row = rows[0] as Row
  const inbox = toInbox(row)
  const changed = (row[6] as unknown as string[]).map(Number)
  blocks.advance(inbox, since === undefined || changed.length > maxChangesBehind ? undefined : changed)
  const outdated = [...blocks.outdated]
  for (let at = 0; at < outdated.length; at += maxBlocksAtOnce) {
    const counts = await read('unreadInBlocks', userId, outdated.slice(at, at + maxBlocksAtOnce))
    for (const [block, count] of counts) blocks.set(block as number, count as number)
  }
  return inbox
}
