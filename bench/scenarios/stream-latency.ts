// Latency from a delivery to its event at the client under a light load: on SQLite, and from one PostgreSQL node to another.
// The floor is a bare node:http server that writes an event to one of its streams and responds.
import { startStreamFloor } from '../floors/start-floor.ts'
import { Listener, streamRequest } from '../load/listener.ts'
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
  question: 'from a delivery to the event at its client: on SQLite, and from one PostgreSQL node to another',
  async run(bench) {
    const users = bench.scaled(maxUsers)
    const { url: database } = await startDatabase(bench, 'anywhere')
    const onSqlite = { ...bench, role: 'anywhere' } as const
    const onPostgres = { ...onSqlite, database }
    const sqlite = bench.using(await startService(onSqlite))
    const from = bench.using(await startService(onPostgres))
    const to = bench.using(await startService(onPostgres))
    const floor = await startStreamFloor(bench)
    const paths = Array.from({ length: users }, (_, i) => `/${i}`)
    const texts = {
      streams: paths.map((path) => requestText('GET', path)),
      deliveries: paths.map((path) => requestText('POST', path, { body: '{}' })),
    }
    const onSqliteTexts = textsOf(await prepare(sqlite, { users, proofs: 1 }))
    const taken = await inTurns(bench, {
      floor: await follow(bench, { from: floor, to: floor, ...texts }),
      sqlite: await follow(bench, { from: sqlite, to: sqlite, ...onSqliteTexts }),
      postgres: await follow(bench, { from, to, ...textsOf(await prepare(from, { users, proofs: 1 })) }),
    })
    const p95 = (samples: Latencies[]) => samples.map(({ ms }) => percentile(ms))
    const floored = { as: asMs, floor: { figures: p95(taken.floor) } }
    const rowOf = (where: string, of: Latencies[], max: number) =>
      row({ ...floored, what: `${where}: p95 from a delivery to its event`, figures: p95(of), max, isAbsolute: true })
    return [
      rowOf('SQLite', taken.sqlite, targets.sqliteMs),
      rowOf('PostgreSQL, another node', taken.postgres, targets.acrossNodesMs),
    ]
  },
}

type Latencies = { ms: number[] }
/** `from` receives the deliveries, `to` has the streams. */
type Following = { from: { port: number }; to: { port: number }; streams: string[]; deliveries: string[] }

async function follow(bench: Bench, { from, to, streams, deliveries }: Following): Promise<() => Promise<Latencies>> {
  const listener = bench.using(new Listener())
  await listener.open(to.port, streams)
  const plan = { port: from.port, texts: deliveries, events: 1, seconds: bench.seconds, everyMs }
  return async () => ({ ms: await listener.follow(plan) })
}

function textsOf({ readers, producer }: Prepared) {
  const streams = requestsOf(readers, 'cookies', streamRequest)
  return { streams, deliveries: readers.map((reader) => deliveryTo([reader], producer)) }
}

function percentile(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.95)] ?? Number.NaN
}
