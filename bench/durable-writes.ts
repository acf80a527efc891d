// What does it cost that a 2xx is on the disk? 256 deliveries at once, against one commit for each, and what the event loop
// feels of it, on this disk and on one whose fsync takes 20 ms longer.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asLoad, rate } from './beside-floor.ts'
import { prepareReaders } from './inboxes.ts'
import { type Loaded, Loader } from './loader.ts'
import { describeSync, syncCost } from './machine.ts'
import type { Delay } from './probe.ts'
import { Asked } from './processes.ts'
import { request } from './requests.ts'
import { inTurns, median, ratios } from './rounds.ts'
import type { Bench, Scenario } from './scenario.ts'
import { type Service, startService } from './service.ts'
import { findSlowDisk, type SlowDisk, slowByMs } from './slow-disk.ts'
import { asCount, asMs, asRatio, type Row } from './table.ts'
import type { WriteQuestion, Written } from './write-loop.ts'

const atOnce = 256
const leastRatio = 8
const mostDelayMs = 5

export const durableWrites: Scenario = {
  name: 'durable-writes',
  question: '256 deliveries at once, each answered when it is on the disk, against one commit for each',
  async run(bench) {
    const slowDisk = findSlowDisk(bench.dir)
    const quick = await onThisDisk(bench)
    const slow = slowDisk === undefined ? [notMeasured()] : [await onSlowDisk(bench, slowDisk)]
    return {
      rows: [...quick, ...slow],
      notes: [
        'One delivery to one of 100 users each. The floor: one process, no HTTP, one commit for each, the same ' +
          'statements and settings.',
        'The service runs on all cores here, since its writer is a thread of its own; "core" is of both threads together.',
        'Event loop delay: of the service meanwhile, by a timer of 1 ms, so at rest it shows a little more than 1.',
        `On the slow disk each fsync takes ${slowByMs} ms longer${slowDisk === undefined ? '' : ` (by ${slowDisk.how})`}.`,
      ],
    }
  },
}

async function onThisDisk(bench: Bench): Promise<Row[]> {
  const { rounds, seconds, tell, using } = bench
  const http = await prepare(bench, 'http')
  const [store, alone] = [await prepare(bench, 'store'), await prepare(bench, 'alone')]
  const service = using(await startService({ dir: http.dir, role: 'anywhere' }))
  const loader = using(new Loader())
  const writer = using(
    new Asked({ args: [fileURLToPath(new URL('./write-loop.ts', import.meta.url))], role: 'anywhere' }),
  )
  const write = (way: WriteQuestion['way'], { dir, usernames }: Prepared) =>
    writer.ask<Written>({ way, dir, atOnce, usernames, seconds } satisfies WriteQuestion)
  const taken = await inTurns<string, Written | Loaded>({
    rounds,
    tell,
    contenders: {
      'one by one': () => write('one by one', alone),
      store: () => write('together', store),
      http: () => deliverThroughHttp(bench, { service, loader, requests: http.requests }),
    },
  })
  const [floor = [], byStore = [], byHttp = []] = ['one by one', 'store', 'http'].map((name) => taken[name] as Loaded[])
  const sync = describeSync(syncCost(bench.dir))
  const row = (what: string, of: Loaded[], measured: string): Row => {
    const ratio = ratios(of.map(rate), floor.map(rate))
    const shownFloor = `one commit for each: ${asCount(median(floor.map(rate)))}/s`
    return {
      what,
      measured: `${measured}; sync ${sync}`,
      floor: shownFloor,
      ratio: asRatio(ratio),
      target: `>= ${leastRatio}`,
      met: ratio.median >= leastRatio,
    }
  }
  return [
    row('deliveries, 256 at once, by the store', byStore, `${asCount(median(byStore.map(rate)))}/s`),
    row('deliveries, 256 at once, through HTTP', byHttp, asLoad(byHttp)),
    delayRow('event loop delay meanwhile, p99', byHttp),
  ]
}

async function onSlowDisk(bench: Bench, { env = {}, under = [] }: SlowDisk): Promise<Row> {
  const { rounds, tell, using } = bench
  const { dir, requests } = await prepare(bench, 'slow')
  const service = using(await startService({ dir, env, under, role: 'anywhere' }))
  const loader = using(new Loader())
  const { http } = await inTurns({
    rounds,
    tell,
    contenders: { http: () => deliverThroughHttp(bench, { service, loader, requests }) },
  })
  const quickest = Math.min(...http.map(({ p50Ms }) => p50Ms))
  assert.ok(quickest >= slowByMs, `the disk was not slow: half of the deliveries took ${quickest} ms or less`)
  return delayRow(`event loop delay while fsync takes ${slowByMs} ms longer, p99`, http)
}

function deliverThroughHttp(
  { seconds }: Bench,
  { service, loader, requests }: { service: Service; loader: Loader; requests: readonly string[] },
): Promise<Loaded> {
  const load = {
    port: service.port,
    connections: atOnce,
    requests,
    status: 201,
    seconds,
    warmUpSeconds: 0.7,
    watchesDelay: true,
  }
  return loader.measure(service.process, load)
}

function delayRow(what: string, samples: readonly Loaded[]): Row {
  const delays = samples.map(({ delay }) => delay as Delay)
  const p99 = median(delays.map((delay) => delay.p99))
  const most = Math.max(...delays.map(({ max }) => max))
  return {
    what,
    measured: `${asMs(p99)} (p50 ${asMs(median(delays.map(({ p50 }) => p50)))}, most ${asMs(most)}) at ${asLoad(samples)}`,
    floor: '',
    ratio: '',
    target: `< ${mostDelayMs} ms`,
    met: p99 < mostDelayMs,
  }
}

function notMeasured(): Row {
  const what = `event loop delay while fsync takes ${slowByMs} ms longer, p99`
  return {
    what,
    measured: 'needs cc or strace',
    floor: '',
    ratio: '',
    target: `< ${mostDelayMs} ms`,
    met: 'not measured',
  }
}

type Prepared = { dir: string; usernames: string[]; requests: string[] }

async function prepare(bench: Bench, name: string): Promise<Prepared> {
  const dir = join(bench.dir, name)
  mkdirSync(dir)
  const { readers, producer } = await prepareReaders(dir, { users: 100, proofs: 0 })
  const usernames = readers.map(({ username }) => username)
  const requests = usernames.map((username) => {
    const content = { recipients: [{ username }], title: 'Number 1', body: 'It is on its way.', category: 'orders' }
    return request('POST', '/api/notifications', { proof: producer, body: JSON.stringify(content) })
  })
  return { dir, usernames, requests }
}
