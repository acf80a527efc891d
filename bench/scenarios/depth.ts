// Compares page 1 with page 45,000 of an inbox with 900,000 notifications, by the store and through HTTP: a deep page must
// cost the same.
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../server/store/store.ts'
import { asLoad, isDisturbed, rate } from '../floors/compare.ts'
import { Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns, median, ratios, type Spread } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asRatio, type Row } from '../report/table.ts'
import { fillInboxes, openStoreIn, prepareReaders } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'
import { gaps } from './gaps.ts'

const inboxSize = 900_000
const limit = 20
const lastPage = inboxSize / limit
/** Pages at each end that are requested through HTTP, each once. */
const pagesAtEachEnd = lastPage / 3
const maxDifference = 0.1

export const depth: Scenario = {
  name: 'depth',
  question: 'page 1 and page 45,000 (limit 20) of 900,000 notifications in one inbox',
  async run(bench) {
    const { checkout, dir, progress } = bench
    progress('making an inbox of 900,000 notifications')
    const { readers } = await prepareReaders(bench, { users: 1, proofs: 1 })
    const [{ userId, tokens }] = readers as [(typeof readers)[0]]
    await fillInboxes(bench, { userIds: [userId], count: inboxSize })
    const withGaps = await gaps({ ...bench, dir: mkdtempSync(join(dir, 'gaps-')) })
    const stored = await throughStore(bench, userId)

    const loader = bench.using(new Loader())
    const proof = tokens[0] as ProofLine
    const pages = { first: pagesFrom(1, proof), last: pagesFrom(lastPage - pagesAtEachEnd + 1, proof) }
    const warmUp = pagesFrom(pagesAtEachEnd + 1, proof)
    const loadOnFresh = async (requests: readonly string[]) => {
      const service = await startService({ checkout, dir })
      const load = { port: service.port, connections: 64, status: 200, isOnce: true, seconds: 60, warmUpSeconds: 0 }
      await loader.measure(service.process, { ...load, requests: warmUp })
      const loaded = await loader.measure(service.process, { ...load, requests })
      await service.stop()
      return loaded
    }
    const served = await inTurns(bench, {
      isDisturbed,
      contenders: { first: () => loadOnFresh(pages.first), last: () => loadOnFresh(pages.last) },
    })
    return {
      rows: [
        row({
          what: 'page 45,000, by the store',
          measured: `${median(stored.last).toFixed(1)} us`,
          floor: `page 1: ${median(stored.first).toFixed(1)} us`,
          ratio: ratios(stored.last, stored.first),
          figures: stored.last,
        }),
        row({
          what: 'pages 30,001 to 45,000, through HTTP',
          measured: asLoad(served.last),
          floor: `pages 1 to 15,000: ${asLoad(served.first)}`,
          // A ratio of times, as above.
          ratio: ratios(served.first.map(rate), served.last.map(rate)),
          figures: served.last.map(rate),
        }),
        ...withGaps.rows,
      ],
      notes: [
        'Ratio: time for the deep page divided by time for page 1.',
        'By the store: `readPage`, in turns, without a cache of rendered pages. Through HTTP: each page once, from a service ' +
          'that has just started, so that no page is in its cache.',
        ...withGaps.notes,
      ],
    }
  },
}

type Compared = { what: string; measured: string; floor: string; ratio: Spread; figures: number[] }

function row({ ratio, ...format }: Compared): Row {
  const met = Math.abs(ratio.median - 1) <= maxDifference
  return { ...format, ratio: asRatio(ratio), target: '0.90-1.10', met }
}

function pagesFrom(first: number, proof: ProofLine): string[] {
  return Array.from({ length: pagesAtEachEnd }, (_, i) =>
    requestText('GET', `/api/notifications?page=${first + i}&limit=${limit}`, { proof }),
  )
}

/** Microseconds per page for each round; within a round the two alternate many times. */
async function throughStore(bench: Bench, userId: string): Promise<{ first: number[]; last: number[] }> {
  const store = await openStoreIn(bench)
  try {
    const both = async () => {
      const took: [first: number, last: number][] = []
      for (let i = 0; i < 30; i++)
        took.push([await timePage(store, { userId, page: 1 }), await timePage(store, { userId, page: lastPage })])
      return { first: median(took.map(([us]) => us)), last: median(took.map(([, us]) => us)) }
    }
    await both()
    const { page } = await inTurns(bench, { contenders: { page: both } })
    return { first: page.map(({ first }) => first), last: page.map(({ last }) => last) }
  } finally {
    await store.close()
  }
}

async function timePage(store: Store, { userId, page }: { userId: string; page: number }): Promise<number> {
  const times = 400
  const startedAt = performance.now()
  for (let i = 0; i < times; i++) {
    await store.readPage({ userId, page, limit, status: 'all' })
    // Requests also arrive a few per turn of the event loop.
    if (i % 8 === 0) await new Promise(setImmediate)
  }
  return ((performance.now() - startedAt) * 1000) / times
}
