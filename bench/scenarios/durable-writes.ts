// Writes on SQLite through HTTP, each answered after its commit: deliveries and marks, one at a time and many at once, a delivery to
// 1,000 recipients, and how long the lists of others take meanwhile.
import { type Server, startFloor } from '../floors/start-floor.ts'
import type { Plan } from '../load/load.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow, rate, rateRow, row } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { asMs } from '../report/table.ts'
import { deliveryTo, fillInboxes, prepare, type Reader, requestsOf, sendAll } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'
import { firstPage } from './list.ts'

const users = 1_000
/** Users with unread notifications that are marked, one after the other. */
const maxMarkers = 200
const marksEach = 500
const idsInPage = 100
const targets = { cost: 6, toMany: 60, listsMs: 20 }
/** The lists of others, while 256 deliveries wait. */
const listing = { connections: 8, everyMs: 40, status: 200 }

type Load = Pick<Plan, 'requests' | 'connections'> & Partial<Plan> & { warmUpSeconds?: number }

export const durableWrites: Scenario = {
  name: 'durable-writes',
  question: 'deliveries and marks on SQLite, one and many at once, each answered after its commit',
  async run(bench) {
    const { rounds, seconds } = bench
    const markers = bench.scaled(maxMarkers)
    const service = bench.using(await startService({ ...bench, role: 'anywhere' }))
    const { readers, producer } = await prepare(service, { users, proofs: 1, signedIn: markers })
    const owners = readers.slice(0, markers)
    bench.progress(`making ${markers * marksEach} notifications`)
    await fillInboxes(service, { readers: owners, producer }, marksEach)
    const [loader, lister] = [bench.using(new Loader()), bench.using(new Loader())]
    const toOne = readers.map((reader) => deliveryTo([reader], producer))
    const floor = await startFloor(bench, { port: service.port, texts: toOne.slice(0, 1), status: 201 })
    const marks = await marksOf(service.port, owners)
    const on = ({ port, process }: Server, load: Load) =>
      loader.measure(process, { port, status: 201, seconds, warmUpSeconds: seconds / 4, ...load })
    /** Each notification is marked once, so a disturbed sample is not taken again. */
    const mark = (connections: number, share: number) => async () => {
      const requests = marks.splice(0, (markers * marksEach * share) / rounds)
      const load = { requests, connections, status: 204, count: requests.length, warmUpSeconds: 0 }
      return { ...(await on(service, load)), otherProgramsShare: 0 }
    }
    const lists = requestsOf(owners, 'cookies', firstPage)
    const others = { port: service.port, ...listing, requests: lists, seconds, warmUpSeconds: seconds / 4 }
    const taken = await inTurns<string, Loaded>(bench, {
      floor: () => on(floor, { requests: toOne, connections: 64 }),
      'deliver 64': () => on(service, { requests: toOne, connections: 64 }),
      'deliver 1': () => on(service, { requests: toOne, connections: 1 }),
      'to 1,000': () => on(service, { requests: [deliveryTo(readers, producer)], connections: 1 }),
      'lists alone': () => lister.measure(service.process, others),
      'lists beside 256': async () => {
        const delivering = on(service, { requests: toOne, connections: 256 })
        const [listed] = await Promise.all([lister.measure(service.process, others), delivering])
        // The deliveries are no other program.
        return { ...listed, otherProgramsShare: 0 }
      },
      'mark 1': mark(1, 0.2),
      'mark 32': mark(32, 0.8),
    })
    return rowsOf((name) => taken[name] ?? [])
  },
}

function rowsOf(taken: (name: string) => readonly Loaded[]) {
  const ms = (name: string) => taken(name).map((sample) => 1_000 / rate(sample))
  const p99 = (name: string) => taken(name).map(({ p99Ms }) => p99Ms)
  return [
    costRow({
      what: 'CPU of a delivery, 64 at once',
      of: taken('deliver 64'),
      floor: taken('floor'),
      max: targets.cost,
    }),
    rateRow({ what: 'deliveries, one at a time', of: taken('deliver 1') }),
    row({
      what: 'one call with 1,000 recipients',
      figures: ms('to 1,000'),
      as: asMs,
      floor: { figures: ms('deliver 1') },
      max: targets.toMany,
    }),
    row({
      what: 'p99 of lists by others, 256 deliveries at once',
      figures: p99('lists beside 256'),
      as: asMs,
      floor: { figures: p99('lists alone') },
      max: targets.listsMs,
      isAbsolute: true,
    }),
    rateRow({ what: 'marks as read, one at a time', of: taken('mark 1') }),
    rateRow({ what: 'marks as read, 32 at once', of: taken('mark 32') }),
  ]
}

/** The requests that mark every notification of these users as read; neighbours in the list belong to different users. */
async function marksOf(port: number, owners: readonly Reader[]): Promise<string[]> {
  const marks: string[][] = []
  for (let page = 1; page <= marksEach / idsInPage; page++) {
    const path = `/api/notifications?page=${page}&limit=${idsInPage}`
    const pages = await sendAll(
      port,
      requestsOf(owners, 'cookies', (proof) => requestText('GET', path, { proof })),
      200,
    )
    const ids = pages.map(({ body }) => JSON.parse(body).data.items as { id: string }[])
    const markOf = (id: string, owner: number) =>
      requestText('PATCH', `/api/notifications/${id}/read`, { proof: owners[owner]?.cookies[0] as ProofLine })
    for (let i = 0; i < idsInPage; i++) marks.push(ids.map((items, owner) => markOf(items[i]?.id as string, owner)))
  }
  return marks.flat()
}
