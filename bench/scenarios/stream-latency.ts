// How soon is a commit an event at its client, when little else goes on? On SQLite, and from one node to another on
// PostgreSQL, beside a bare node:http server that writes the same bytes to one of its streams and answers.
import { setTimeout as pause } from 'node:timers/promises'
import { startStreamFloor, toldBy } from '../floors/start-stream-floor.ts'
import { deliveryRequest, Listener, type Sent, send, streamRequest } from '../load/listener.ts'
import { Connection, request } from '../load/requests.ts'
import { inTurns, median, ratios, type Spread, spread } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMs, asRatio, type Row } from '../report/table.ts'
import { type Prepared, prepareReaders, prepareReadersAt } from '../setup/inboxes.ts'
import { startDatabase, startServiceOn } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'

const users = 100
const everyMs = 20
/** How often it is asked whether all events have come. */
const askEveryMs = 20
/** An event that has not come by then never will, however busy the machine is. */
const givenUpMs = 60_000
const maxMs = { sqlite: 50, acrossNodes: 150 }

export const streamLatency: Scenario = {
  name: 'stream-latency',
  question: 'from a delivery to the event at its client: on SQLite, and from one PostgreSQL node to another',
  async run(bench) {
    const { dir, rounds, tell } = bench
    const prepared = await prepareReaders(dir, { users, proofs: 1 })
    const sqlite = bench.using(await startService({ dir, role: 'anywhere' }))
    const told = await toldBy(sqlite.port, sampleOf(prepared))
    const floor = bench.using(await startStreamFloor(told))
    const database = await startDatabase(bench, 'anywhere')
    const preparedAt = await prepareReadersAt(database.url, { users, proofs: 1 })
    const [a, b] = [
      bench.using(await startServiceOn(database, { dir, role: 'anywhere' })),
      bench.using(await startServiceOn(database, { dir, role: 'anywhere' })),
    ]
    const onPostgres = { sent: 0 }
    const paths = Array.from({ length: users }, (_, i) => `/${i}`)
    const taken = await inTurns({
      rounds,
      tell,
      contenders: {
        floor: await follow(bench, {
          from: floor.port,
          to: floor.port,
          streams: paths.map((path) => request('GET', path)),
          deliveries: paths.map((path) => request('POST', path, { body: '{}' })),
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
        `One delivery to one of ${users} users with a stream each, every ${everyMs} ms; on all cores. Medians of the rounds.`,
        'From 201: below zero where the event was at its client before the answer was at its producer.',
        `The floor: a POST to bare \`node:http\`, which writes an event of ${Buffer.byteLength(told.event)} bytes and then answers; nothing is kept.`,
        `PostgreSQL ${database.version}; sync: ${database.sync}. What one node commits the others hear at most 20 ms later: gathered.`,
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

/** Milliseconds of each event, from the request of its delivery and from its 201. */
type Latencies = { fromSent: number[]; fromAnswer: number[] }
/** `from` takes the deliveries, `to` has the streams: ports. `counter` counts what was sent to them, by whomever. */
type Following = { from: number; to: number; counter: { sent: number }; streams: string[]; deliveries: string[] }

async function follow(bench: Bench, following: Following): Promise<() => Promise<Latencies>> {
  const { from, to, counter, streams, deliveries } = following
  const listener = bench.using(new Listener())
  await listener.open({ port: to, requests: streams, keepsMoments: true })
  const hasAll = async () => {
    const giveUpAt = performance.now() + givenUpMs
    while ((await listener.count()) < counter.sent && performance.now() < giveUpAt) await pause(askEveryMs)
  }
  return async () => {
    // What came of the deliveries of others.
    await hasAll()
    await listener.moments()
    const sent = await sendFor(bench.seconds, { port: from, deliveries })
    for (const those of sent) counter.sent += those.length
    await hasAll()
    const came = await listener.moments()
    // Exactly one event for each delivery and in order, so that the n-th of a user is the n-th of his stream.
    const pairs = sent.flatMap((those, i) => those.map((one, n) => ({ ...one, cameAt: came[i]?.[n] ?? Infinity })))
    return {
      fromSent: pairs.map(({ cameAt, sentAt }) => cameAt - sentAt),
      fromAnswer: pairs.map(({ cameAt, answeredAt }) => cameAt - answeredAt),
    }
  }
}

/** To each in turn; what was sent to each. */
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

type Beside = { floor: Latencies[]; maxMs?: number }

function rowsOf(where: string, of: Latencies[], { floor, maxMs: limit }: Beside): Row[] {
  return [
    row(`${where}: from the request of a delivery to its event`, of, {
      floor,
      limit,
      pick: ({ fromSent }) => fromSent,
    }),
    row(`${where}: from its 201`, of, { floor, limit, pick: ({ fromAnswer }) => fromAnswer }),
  ]
}

type Shown = { floor: Latencies[]; limit: number | undefined; pick: (one: Latencies) => number[] }

function row(what: string, of: Latencies[], { floor, limit, pick }: Shown): Row {
  const at = (samples: Latencies[], share: number) => samples.map((sample) => percentile(pick(sample), share))
  const p95 = spread(at(of, 0.95))
  return {
    what,
    measured: `p95 ${shown(p95)}, p50 ${signed(median(at(of, 0.5)))}`,
    floor: `p95 ${shown(spread(at(floor, 0.95)))}`,
    ratio: limit !== undefined && p95.least > 0 ? asRatio(ratios(at(of, 0.95), at(floor, 0.95))) : '',
    target: limit === undefined ? '' : `p95 < ${limit} ms`,
    met: limit === undefined ? undefined : p95.median < limit,
  }
}

function percentile(values: readonly number[], share: number): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN
}

function shown({ median: middle, least, most }: Spread): string {
  return `${signed(middle)} (${signed(least)} to ${signed(most)})`
}

function signed(ms: number): string {
  return ms < 0 ? `-${asMs(-ms)}` : asMs(ms)
}
