// Latency from a delivery to its event at the client under a light load: on SQLite, on PostgreSQL, and from one PostgreSQL node
// to another. The floor is a bare node:http server that writes the same bytes to one of its streams and responds.
import { setTimeout as pause } from 'node:timers/promises'
import { sampleStream, startStreamFloor } from '../floors/start-stream-floor.ts'
import { deliveryRequest, Listener, type Sent, send, streamRequest } from '../load/listener.ts'
import { Connection, requestText } from '../load/requests.ts'
import { inTurns, median, ratios, type Spread, spread } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMs, asRatio, type Row } from '../report/table.ts'
import { type Prepared, prepareReaders, prepareReadersAt } from '../setup/inboxes.ts'
import { startDatabase, startServiceOn } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'

const users = 100
const everyMs = 20
/** How often to check that all events have arrived. */
const pollEveryMs = 20
/** An event that is later than this is lost, however busy the machine is. */
const givenUpMs = 60_000
const maxMs = { sqlite: 50, acrossNodes: 150 }

export const streamLatency: Scenario = {
  name: 'stream-latency',
  question: 'from a delivery to the event at its client: on SQLite, and from one PostgreSQL node to another',
  async run(bench) {
    const { checkout, dir } = bench
    const prepared = await prepareReaders(bench, { users, proofs: 1 })
    const sqlite = bench.using(await startService({ checkout, dir, role: 'anywhere' }))
    const sample = await sampleStream(sqlite.port, sampleOf(prepared))
    const floor = bench.using(await startStreamFloor(sample))
    const database = await startDatabase(bench, 'anywhere')
    const preparedAt = await prepareReadersAt(checkout, database.url, { users, proofs: 1 })
    const [a, b] = [
      bench.using(await startServiceOn(database, { checkout, dir, role: 'anywhere' })),
      bench.using(await startServiceOn(database, { checkout, dir, role: 'anywhere' })),
    ]
    const onPostgres = { sent: 0 }
    const paths = Array.from({ length: users }, (_, i) => `/${i}`)
    const taken = await inTurns(bench, {
      contenders: {
        floor: await follow(bench, {
          from: floor.port,
          to: floor.port,
          streams: paths.map((path) => requestText('GET', path)),
          deliveries: paths.map((path) => requestText('POST', path, { body: '{}' })),
          counter: { sent: 0 },
        }),
        sqlite: await follow(bench, {
          from: sqlite.port,
          to: sqlite.port,
          counter: { sent: 0 },
          ...requestsOf(prepared),
        }),
        'same node': await follow(bench, { from: a.port, to: a.port, counter: onPostgres, ...requestsOf(preparedAt) }),
        'across nodes': await follow(bench, {
          from: a.port,
          to: b.port,
          counter: onPostgres,
          ...requestsOf(preparedAt),
        }),
      },
    })
    return {
      rows: [
        ...rowsOf('SQLite', taken.sqlite, { floor: taken.floor, maxMs: maxMs.sqlite }),
        ...rowsOf('PostgreSQL, same node', taken['same node'], { floor: taken.floor }),
        ...rowsOf('PostgreSQL, another node', taken['across nodes'], {
          floor: taken.floor,
          maxMs: maxMs.acrossNodes,
        }),
      ],
      notes: [
        `One delivery every ${everyMs} ms to one of ${users} users with one stream each; on all cores. Medians of the rounds.`,
        'From 201: negative if the event reached its client before the response reached the producer.',
        `The floor: a POST to bare \`node:http\`, which writes an event of ${Buffer.byteLength(sample.event)} bytes and then responds; nothing is stored.`,
        `PostgreSQL ${database.version}; sync: ${database.sync}. A node collects change signals for at most 20 ms before it sends them to other nodes.`,
      ],
    }
  },
}

function sampleOf({ readers, producer }: Prepared): { stream: string; delivery: string } {
  const [{ username, cookies }] = readers as [Prepared['readers'][0]]
  return { stream: streamRequest(cookies[0] as string), delivery: deliveryRequest(producer, [username]) }
}

function requestsOf({ readers, producer }: Prepared): { streams: string[]; deliveries: string[] } {
  return {
    streams: readers.map(({ cookies }) => streamRequest(cookies[0] as string)),
    deliveries: readers.map(({ username }) => deliveryRequest(producer, [username])),
  }
}

/** Milliseconds to each event, from the request of its delivery and from its 201. */
type Latencies = { fromSent: number[]; fromResponse: number[] }
/** Ports: `from` receives the deliveries, `to` has the streams. `counter` counts all deliveries to these users. */
type Following = { from: number; to: number; counter: { sent: number }; streams: string[]; deliveries: string[] }

async function follow(bench: Bench, following: Following): Promise<() => Promise<Latencies>> {
  const { from, to, counter, streams, deliveries } = following
  const listener = bench.using(new Listener())
  await listener.open({ port: to, requests: streams, keepsMoments: true })
  const hasAll = async () => {
    const giveUpAt = performance.now() + givenUpMs
    while ((await listener.count()) < counter.sent && performance.now() < giveUpAt) await pause(pollEveryMs)
  }
  return async () => {
    // Events of the deliveries of other contenders.
    await hasAll()
    await listener.moments()
    const sent = await sendFor(bench.seconds, { port: from, deliveries })
    for (const those of sent) counter.sent += those.length
    await hasAll()
    const came = await listener.moments()
    // One event per delivery, in order: the n-th delivery to a user is the n-th event of the user's stream.
    const pairs = sent.flatMap((those, i) => those.map((one, n) => ({ ...one, cameAt: came[i]?.[n] ?? Infinity })))
    return {
      fromSent: pairs.map(({ cameAt, sentAt }) => cameAt - sentAt),
      fromResponse: pairs.map(({ cameAt, respondedAt }) => cameAt - respondedAt),
    }
  }
}

/** Sends to the users one after another; returns what was sent to each. */
async function sendFor(
  seconds: number,
  { port, deliveries }: { port: number; deliveries: readonly string[] },
): Promise<Sent[][]> {
  const sent: Sent[][] = deliveries.map(() => [])
  const connection = new Connection(port)
  const endsAt = performance.now() + seconds * 1_000
  for (let turn = 0; performance.now() < endsAt; turn = (turn + 1) % deliveries.length) {
    const next = pause(everyMs)
    sent[turn]?.push(await send(connection, deliveries[turn] as string))
    await next
  }
  connection.close()
  return sent
}

type Comparison = { floor: Latencies[]; maxMs?: number }

function rowsOf(where: string, of: Latencies[], { floor, maxMs: limit }: Comparison): Row[] {
  return [
    row(`${where}: from the request of a delivery to its event`, of, {
      floor,
      limit,
      pick: ({ fromSent }) => fromSent,
    }),
    row(`${where}: from its 201`, of, { floor, limit, pick: ({ fromResponse }) => fromResponse }),
  ]
}

type RowOptions = { floor: Latencies[]; limit: number | undefined; pick: (one: Latencies) => number[] }

function row(what: string, of: Latencies[], { floor, limit, pick }: RowOptions): Row {
  const at = (samples: Latencies[], share: number) => samples.map((sample) => percentile(pick(sample), share))
  const p95 = spread(at(of, 0.95))
  return {
    what,
    measured: `p95 ${format(p95)}, p50 ${signed(median(at(of, 0.5)))}`,
    floor: `p95 ${format(spread(at(floor, 0.95)))}`,
    ratio: limit !== undefined && p95.min > 0 ? asRatio(ratios(at(of, 0.95), at(floor, 0.95))) : '',
    target: limit === undefined ? '' : `p95 < ${limit} ms`,
    met: limit === undefined ? undefined : p95.median < limit,
  }
}

function percentile(values: readonly number[], share: number): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN
}

function format({ median: middle, min, max }: Spread): string {
  return `${signed(middle)} (${signed(min)} to ${signed(max)})`
}

function signed(ms: number): string {
  return ms < 0 ? `-${asMs(-ms)}` : asMs(ms)
}
