// The cost of durable writes: 256 deliveries at once against one commit per delivery, and the event loop delay, on this disk
// and on a disk whose fsync takes 20 ms longer.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asLoad, rate } from '../floors/compare.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { requestText } from '../load/requests.ts'
import type { WriteRequest, WriteResult } from '../load/write-loop.ts'
import type { Delay } from '../processes/probe.ts'
import { BenchProcess } from '../processes/processes.ts'
import { describeSync, syncCost } from '../report/machine.ts'
import { inTurns, median, ratios } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asCount, asMs, asRatio, type Row } from '../report/table.ts'
import { prepareReaders } from '../setup/inboxes.ts'
import { type Service, startService } from '../setup/service.ts'
import { findSlowDisk, type SlowDisk, slowByMs } from '../setup/slow-disk.ts'

const writeLoop = fileURLToPath(new URL('../load/write-loop.ts', import.meta.url))
const atOnce = 256
const minRatio = 8
const maxDelayMs = 5

export const durableWrites: Scenario = {
  name: 'durable-writes',
  question: '256 deliveries at once, each answered after its commit, against one commit per delivery',
  async run(bench) {
    const slowDisk = findSlowDisk(bench.dir)
    const quick = await onDisk(bench, { name: 'quick', suffix: '' })
    const suffix = `, fsync ${slowByMs} ms slower`
    const slow =
      slowDisk === undefined ? [notMeasured(suffix)] : await onDisk(bench, { name: 'slow', suffix, slowDisk })
    return {
      rows: [...quick, ...slow],
      notes: [
        'Each delivery goes to one of 100 users. The floor: one process without HTTP, one commit per delivery, the same ' +
          'statements and settings.',
        'The ratio is the gain of sharing an fsync. The cheaper an fsync is compared with the write, the smaller the gain.',
        'The service runs on all cores, since its writer is a separate thread; "core" counts both threads.',
        'Event loop delay: of the service under this load, measured by a timer of 1 ms; an idle process shows a little more than 1.',
        ...(slowDisk === undefined
          ? []
          : [`The slow disk: each fsync takes ${slowByMs} ms longer, by ${slowDisk.how}.`]),
      ],
    }
  },
}

type Disk = { name: string; suffix: string; slowDisk?: SlowDisk }

async function onDisk(bench: Bench, { name, suffix, slowDisk }: Disk): Promise<Row[]> {
  const { rounds, seconds, progress, using } = bench
  const { env = {}, under = [] } = slowDisk ?? {}
  const [http, store, alone] = [
    await prepare(bench, `${name}-http`),
    await prepare(bench, `${name}-store`),
    await prepare(bench, `${name}-alone`),
  ]
  const service = using(await startService({ dir: http.dir, role: 'anywhere', env, under }))
  const loader = using(new Loader())
  const writer = using(new BenchProcess({ args: [writeLoop], role: 'anywhere', env, under }))
  const write = (way: WriteRequest['way'], { dir, usernames }: Prepared) =>
    writer.request<WriteResult>({ way, dir, atOnce, usernames, seconds } satisfies WriteRequest)
  const deliver = () => deliverThroughHttp(bench, { service, loader, requests: http.requests })
  progress('warming up')
  await deliver()
  const taken = await inTurns<string, WriteResult | Loaded>({
    rounds,
    progress,
    contenders: {
      'one by one': () => write('one by one', alone),
      store: () => write('together', store),
      http: deliver,
    },
  })
  const [floor = [], byStore = [], byHttp = []] = ['one by one', 'store', 'http'].map((way) => taken[way] as Loaded[])
  if (slowDisk !== undefined) assertSlow(floor)
  const sync = `; sync ${describeSync(syncCost(bench.dir))}${slowDisk === undefined ? '' : ` + ${slowByMs} ms`}`
  return [
    ratioRow(
      { what: `deliveries, 256 at once, by the store${suffix}`, of: byStore, floor },
      `${perSecond(byStore)}${sync}`,
    ),
    ratioRow({ what: `deliveries, 256 at once, through HTTP${suffix}`, of: byHttp, floor }, asLoad(byHttp) + sync),
    delayRow(`event loop delay under this load, p99${suffix}`, byHttp),
  ]
}

function assertSlow(oneByOne: readonly WriteResult[]): void {
  const max = Math.max(...oneByOne.map(rate))
  assert.ok(max < 1000 / slowByMs, `the disk was not slow: it took ${max} commits a second`)
}

function ratioRow(
  { what, of, floor }: { what: string; of: WriteResult[]; floor: WriteResult[] },
  measured: string,
): Row {
  const ratio = ratios(of.map(rate), floor.map(rate))
  return {
    what,
    measured,
    floor: `one commit per delivery: ${perSecond(floor)}`,
    ratio: asRatio(ratio),
    target: `>= ${minRatio}`,
    met: ratio.median >= minRatio,
  }
}

function perSecond(samples: readonly WriteResult[]): string {
  return `${asCount(median(samples.map(rate)))}/s`
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
  const highest = Math.max(...delays.map(({ max }) => max))
  return {
    what,
    measured: `${asMs(p99)} (p50 ${asMs(median(delays.map(({ p50 }) => p50)))}, most ${asMs(highest)}) at ${asLoad(samples)}`,
    floor: '',
    ratio: '',
    target: `< ${maxDelayMs} ms`,
    met: p99 < maxDelayMs,
  }
}

function notMeasured(suffix: string): Row {
  const what = `event loop delay under this load, p99${suffix}`
  return {
    what,
    measured: 'needs cc or strace',
    floor: '',
    ratio: '',
    target: `< ${maxDelayMs} ms`,
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
    return requestText('POST', '/api/notifications', { proof: producer, body: JSON.stringify(content) })
  })
  return { dir, usernames, requests }
}
