// Writes on SQLite through HTTP, each answered after its commit: deliveries and marks, one at a time and many at once, a delivery to
// 1,000 recipients, and how long the lists of others take meanwhile.
import { startFloor } from '../floors/floor.ts'
import { Loader, type Server } from '../load/load.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow, p99Row, rateRow, timeRow } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import {
  deliveryTo,
  fillInboxes,
  newestIds,
  prepare,
  type Reader,
  requestsOf,
} from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'
import { firstPage, listsOfOthers } from './list.ts'

const users = 1_000
/** Users with unread notifications that are marked, one after the other. */
const maxMarkers = 200
const marksEach = 500
const targets = { cost: 6, toMany: 60, listsMs: 20 }

export const durableWrites: Scenario = {
  name: 'durable-writes',
  question: 'deliveries and marks on SQLite, one and many at once, each answered after its commit',
  async run(bench) {
    const { rounds, seconds } = bench
    const markers = bench.scaled(maxMarkers)
    const service = await startService(bench, { role: 'anywhere' })
    const { readers, producer } = await prepare(service, { users, proofs: 1, signedIn: markers })
    const owners = readers.slice(0, markers)
    bench.progress(`making ${markers * marksEach} notifications`)
    await fillInboxes(service, { readers: owners, producer }, marksEach)
    const loader = new Loader(bench)
    const lister = new Loader(bench)
    const toOne = readers.map((reader) => deliveryTo([reader], producer))
    const floor = await startFloor(bench, {
      port: service.port,
      texts: toOne.slice(0, 1),
      status: 201,
    })
    const marks = await marksOf(service.port, owners)
    const usual = { seconds, warmUpSeconds: seconds / 4 }
    const deliver = (server: Server, connections: number, requests: readonly string[] = toOne) =>
      loader.measure(server, { ...usual, requests, connections, status: 201 })
    /** Each notification is marked once, so a disturbed sample is not taken again. */
    const mark = (connections: number, share: number) => async () => {
      const requests = marks.splice(0, (markers * marksEach * share) / rounds)
      const load = { requests, connections, status: 204, count: requests.length, seconds }
      return { ...(await loader.measure(service, load)), otherProgramsShare: 0 }
    }
    const listing = {
      ...usual,
      ...listsOfOthers,
      requests: requestsOf(owners, 'cookies', firstPage),
    }
    const taken = await inTurns(bench, {
      floor: () => deliver(floor, 64),
      'deliver 64': () => deliver(service, 64),
      'deliver 1': () => deliver(service, 1),
      'to 1,000': () => deliver(service, 1, [deliveryTo(readers, producer)]),
      'lists alone': () => lister.measure(service, listing),
      'lists beside 256': async () => {
        const [listed] = await Promise.all([
          lister.measure(service, listing),
          deliver(service, 256),
        ])
        // The deliveries are no other program.
        return { ...listed, otherProgramsShare: 0 }
      },
      'mark 1': mark(1, 0.2),
      'mark 32': mark(32, 0.8),
    })
    const alone = taken['deliver 1']
    const listedAlone = taken['lists alone']
    const beside = {
      what: 'p99 of lists by others, 256 deliveries at once',
      of: taken['lists beside 256'],
    }
    return [
      costRow({
        what: 'CPU of a delivery, 64 at once',
        of: taken['deliver 64'],
        floor: taken.floor,
        max: targets.cost,
      }),
      rateRow({ what: 'deliveries, one at a time', of: alone }),
      timeRow({
        what: 'one call with 1,000 recipients',
        of: taken['to 1,000'],
        floor: alone,
        max: targets.toMany,
      }),
      p99Row({ ...beside, floor: listedAlone, max: targets.listsMs }),
      rateRow({ what: 'marks as read, one at a time', of: taken['mark 1'] }),
      rateRow({ what: 'marks as read, 32 at once', of: taken['mark 32'] }),
    ]
  },
}

/** The requests that mark every notification of these users as read; neighbours in the list belong to different users. */
async function marksOf(port: number, owners: readonly Reader[]): Promise<string[]> {
  const marks: string[][] = []
  for (const { cookies } of owners) {
    const proof = cookies[0] as ProofLine
    const ids = await newestIds(port, proof, marksEach)
    marks.push(ids.map((id) => requestText('PATCH', `/api/notifications/${id}/read`, { proof })))
  }
  return Array.from({ length: marksEach }, (_, i) =>
    marks.map((ofOne) => ofOne[i] as string),
  ).flat()
}
