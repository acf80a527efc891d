// Compares reads of inboxes with 500,000 gaps: a page in the middle with page 1, of unread notifications and of all if some were
// sent again, and changes since long ago with recent ones. By the store, on SQLite, where a read blocks the event loop.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Store } from '../../server/store/store.ts'
import { inTurns, median, ratios } from '../report/rounds.ts'
import type { Bench } from '../report/scenario.ts'
import { asRatio, type Report, type Row } from '../report/table.ts'
import { fillInboxes, openStoreIn, prepareReaders } from '../setup/inboxes.ts'

const inboxSize = 1_000_000
const limit = 20
const middlePage = inboxSize / 2 / limit / 2
/** Far read divided by near read. A deep page of unread notifications also passes over half a block of counts. */
const maxRatio = 4

export async function gaps(bench: Bench): Promise<Report> {
  bench.progress('making an inbox of 1,000,000 notifications, with every second one marked read')
  const { readers } = await prepareReaders(bench, { users: 2, proofs: 1 })
  const [{ userId }, { userId: sentAgain }] = readers as [(typeof readers)[0], (typeof readers)[0]]
  await fillInboxes(bench, { userIds: [userId], count: inboxSize, everySecond: 'read' })
  await fillInboxes(bench, { userIds: [sentAgain], count: inboxSize, everySecond: 'missing' })
  const store = await openStoreIn(bench)
  try {
    const page = (number: number) => store.readPage({ userId, page: number, limit, status: 'unread' })
    const pageOfAll = (number: number) => store.readPage({ userId: sentAgain, page: number, limit, status: 'all' })
    const first = await maxTurn(() => page(middlePage))
    const firstOfAll = await maxTurn(() => pageOfAll(middlePage))
    const { version } = await store.readInbox(userId)
    const since = (behind: number) => store.changesSince({ userId, version: version - behind, limit: 100 })
    const reads = { near: () => page(1), far: () => page(middlePage) }
    const readsOfAll = { near: () => pageOfAll(1), far: () => pageOfAll(middlePage) }
    const changes = { near: () => since(300), far: () => since(9_990) }
    return {
      rows: [
        row('page 12,500 of unread notifications, by the store', 'page 1', await timed(bench, { ...reads })),
        row(
          'page 12,500 of an inbox with missing sequence numbers, by the store',
          'page 1',
          await timed(bench, { ...readsOfAll }),
        ),
        row(
          'changes since 9,990 versions ago, by the store',
          'since 300 versions ago',
          await timed(bench, { ...changes }),
        ),
      ],
      notes: [
        `Unread pages: every second of 1,000,000 notifications was marked read. The first such page counts them: ` +
          `${first.took.toFixed(0)} ms in this run, in event loop turns of at most ${first.turn.toFixed(1)} ms.`,
        `Missing sequence numbers: every second of 1,000,000 notifications was sent again and has left its place. The first page ` +
          `took ${firstOfAll.took.toFixed(0)} ms in this run, in event loop turns of at most ${firstOfAll.turn.toFixed(1)} ms.`,
      ],
    }
  } finally {
    await store.close()
  }
}

type Timed = { near: number[]; far: number[] }

function row(what: string, floor: string, { near, far }: Timed): Row {
  const ratio = ratios(far, near)
  const us = (times: number[]) => `${median(times).toFixed(1)} us`
  return {
    what,
    measured: us(far),
    floor: `${floor}: ${us(near)}`,
    ratio: asRatio(ratio),
    target: `<= ${maxRatio}.00`,
    met: ratio.median <= maxRatio,
    figures: far,
  }
}

type Read = () => ReturnType<Store['readPage']> | ReturnType<Store['changesSince']>

async function timed(bench: Bench, { near, far }: { near: Read; far: Read }): Promise<Timed> {
  const both = async () => ({ near: await timeOf(near), far: await timeOf(far) })
  await both()
  const { read } = await inTurns(bench, { contenders: { read: both } })
  return { near: read.map((one) => one.near), far: read.map((one) => one.far) }
}

/** Microseconds. */
async function timeOf(read: Read): Promise<number> {
  const times = 400
  const startedAt = performance.now()
  for (let i = 0; i < times; i++) {
    await read()
    if (i % 8 === 0) await nextTurn()
  }
  return ((performance.now() - startedAt) * 1000) / times
}

/** Milliseconds. */
async function maxTurn(read: Read): Promise<{ took: number; turn: number }> {
  let turn = 0
  let isOver = false
  const watching = (async () => {
    for (let last = performance.now(); !isOver; ) {
      await nextTurn()
      turn = Math.max(turn, performance.now() - last)
      last = performance.now()
    }
  })()
  const startedAt = performance.now()
  await read()
  const took = performance.now() - startedAt
  isOver = true
  await watching
  return { took, turn }
}
