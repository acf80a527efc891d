// How long the lists, marks and deliveries of others take while 100 users repeat a read-all of 1,000 notifications and its undo. On SQLite and
// on PostgreSQL.
import { Loader } from '../load/load.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { p99Row, rateRow } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import type { Row } from '../report/table.ts'
import {
  deliveryTo,
  fillInboxes,
  newestIds,
  prepare,
  type Reader,
  requestsOf,
  sendAll,
} from '../setup/inboxes.ts'
import { type Database, startDatabase } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'
import { firstPage, listsOfOthers } from './list.ts'

const busyUsers = 100
const otherUsers = 20
const each = 1_000
const targets = { listsMs: 20, marksMs: 60, deliveries: 0.5 }

export const bulkActs: Scenario = {
  name: 'bulk-acts',
  question: `the requests of others while ${busyUsers} users mark ${each} as read and take it back, again and again`,
  run: (bench) => rowsOn(bench),
}

export const postgresBulkActs: Scenario = {
  name: 'postgres-bulk-acts',
  question: 'the same on PostgreSQL',
  run: async (bench) => rowsOn(bench, await startDatabase(bench, 'anywhere')),
}

async function rowsOn(bench: Bench, database?: Database): Promise<Row[]> {
  const { seconds } = bench
  const service = await startService(bench, { database: database?.url, role: 'anywhere' })
  const prepared = await prepare(service, { users: busyUsers + otherUsers, proofs: 1 })
  const { readers, producer } = prepared
  bench.progress(`making ${readers.length * each} notifications`)
  await fillInboxes(service, prepared, each)
  const busy = readers.slice(0, busyUsers)
  const others = readers.slice(busyUsers)
  const bulkLoader = new Loader(bench, 'anywhere')
  const loader = new Loader(bench, 'anywhere', database?.processorUs)
  const usual = { seconds, warmUpSeconds: seconds / 4 }
  const bulk = ['read-all', 'undo'].flatMap((what) =>
    busy.map((reader) => act('POST', reader, what)),
  )
  // An undo needs an act before it.
  await sendAll(service.port, bulk.slice(0, busyUsers), 204)
  const marked: string[] = []
  for (const reader of others) {
    const [id] = await newestIds(service.port, reader.tokens[0] as ProofLine, 100)
    marked.push(act('PATCH', reader, `${id}/read`), act('PATCH', reader, `${id}/unread`))
  }
  const loads = {
    lists: { ...usual, ...listsOfOthers, requests: requestsOf(others, 'cookies', firstPage) },
    marks: { ...usual, requests: marked, connections: 4, status: 204 },
    deliveries: {
      ...usual,
      requests: others.map((reader) => deliveryTo([reader], producer)),
      connections: 16,
      status: 201,
    },
  }
  const alone = (what: keyof typeof loads) => () => loader.measure(service, loads[what])
  const beside = (what: keyof typeof loads) => async () => {
    const acting = bulkLoader.measure(service, {
      ...usual,
      requests: bulk,
      connections: busyUsers,
      status: 204,
    })
    const [measured] = await Promise.all([loader.measure(service, loads[what]), acting])
    // The bulk acts are no other program.
    return { ...measured, otherProgramsShare: 0 }
  }
  const taken = await inTurns(bench, {
    'lists alone': alone('lists'),
    'lists beside': beside('lists'),
    'marks alone': alone('marks'),
    'marks beside': beside('marks'),
    'deliveries alone': alone('deliveries'),
    'deliveries beside': beside('deliveries'),
  })
  const engine = database ? 'PostgreSQL' : 'SQLite'
  const of = (what: keyof typeof loads) => ({
    of: taken[`${what} beside`],
    floor: taken[`${what} alone`],
  })
  return [
    p99Row({ what: `${engine}: p99 of lists by others`, ...of('lists'), max: targets.listsMs }),
    p99Row({ what: `${engine}: p99 of marks by others`, ...of('marks'), max: targets.marksMs }),
    rateRow({
      what: `${engine}: deliveries to others`,
      ...of('deliveries'),
      min: targets.deliveries,
    }),
  ]
}

function act(method: string, reader: Reader, path: string): string {
  return requestText(method, `/api/notifications/${path}`, { proof: reader.tokens[0] as ProofLine })
}
