// Latency from a delivery to its event at the client under a light load: on SQLite, and from one PostgreSQL node to another.
// The floor is a bare node:http server that writes an event to one of its streams and responds.
import { startStreamFloor } from '../floors/floor.ts'
import { Listener, streamRequest } from '../load/listen.ts'
import type { Server } from '../load/load.ts'
import { requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { row } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMs } from '../report/table.ts'
import { deliveryTo, type Prepared, prepare, requestsOf } from '../setup/inboxes.ts'
import { startDatabase } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'

const maxUsers = 100
const everyMs = 20
const targets = { sqliteMs: 50, acrossNodesMs: 150 }

export const streamLatency: Scenario = {
  name: 'stream-latency',
  question:
    'from a delivery to the event at its client: on SQLite, and from one PostgreSQL node to another',
  async run(bench) {
    const own = { users: bench.scaled(maxUsers), proofs: 1 }
    const { url: database } = await startDatabase(bench, 'anywhere')
    const sqlite = await startService(bench, { role: 'anywhere' })
    const from = await startService(bench, { role: 'anywhere', database })
    const to = await startService(bench, { role: 'anywhere', database })
    const floored = await startStreamFloor(bench)
    const paths = Array.from({ length: own.users }, (_, i) => `/${i}`)
    const toFloor = {
      requests: paths.map((path) => requestText('GET', path)),
      texts: paths.map((path) => requestText('POST', path, { body: '{}' })),
    }
    const { floor, ...taken } = await inTurns(bench, {
      floor: await follow(bench, { from: floored, to: floored, ...toFloor }),
      sqlite: await follow(bench, {
        from: sqlite,
        to: sqlite,
        ...textsOf(await prepare(sqlite, own)),
      }),
      postgres: await follow(bench, { from, to, ...textsOf(await prepare(from, own)) }),
    })
    const shown = { floor, figure: p95, as: asMs, isAbsolute: true }
    const what = 'p95 from a delivery to its event'
    return [
      row({ what: `SQLite: ${what}`, of: taken.sqlite, ...shown, max: targets.sqliteMs }),
      row({
        what: `PostgreSQL, another node: ${what}`,
        of: taken.postgres,
        ...shown,
        max: targets.acrossNodesMs,
      }),
    ]
  },
}

type Latencies = { ms: number[] }
/** `from` receives the deliveries, `to` has the streams. */
type Following = { from: Server; to: Server; requests: string[]; texts: string[] }

async function follow(
  bench: Bench,
  { from, to, requests, texts }: Following,
): Promise<() => Promise<Latencies>> {
  const listener = new Listener(bench)
  await listener.open({ port: to.port, requests })
  const plan = { port: from.port, texts, events: 1, seconds: bench.seconds, everyMs }
  return async () => ({ ms: await listener.follow(plan) })
}

function textsOf({ readers, producer }: Prepared) {
  const requests = requestsOf(readers, 'cookies', streamRequest)
  return { requests, texts: readers.map((reader) => deliveryTo([reader], producer)) }
}

function p95({ ms }: Latencies): number {
  return ms.toSorted((one, other) => one - other)[Math.floor(ms.length * 0.95)] ?? Number.NaN
}
