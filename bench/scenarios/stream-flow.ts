// Memory growth and processor time per event with 1,000 users, 5 streams each and 500 deliveries per second, for one minute or
// with `--seconds 600` for ten.
import assert from 'node:assert/strict'
import { deliveryRequest, Listener, streamRequest } from '../load/listener.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import type { BenchProcess } from '../processes/processes.ts'
import { median } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asCount, asMs, type Row } from '../report/table.ts'
import { type Prepared, prepareReaders, withDatabase } from '../setup/inboxes.ts'
import { type Service, startService } from '../setup/service.ts'

const users = 1_000
const streamsEach = 5
const [connections, everyMs] = [10, 20]
const perSecond = (connections * 1_000) / everyMs
const sampleEveryMs = 1_000
/** Last third divided by first third of resident memory. Smaller changes are noise of the garbage collector, even over ten minutes. */
const maxGrowth = 1.1
const maxKept = 2e6

export const streamFlow: Scenario = {
  name: 'stream-flow',
  question: `${asCount(users * streamsEach)} streams and ${perSecond} deliveries a second: memory and processor time`,
  seconds: 60,
  async run(bench) {
    const { dir, seconds, progress, using } = bench
    const prepared = await prepareReaders(dir, { users, proofs: 1 })
    const service = using(await startService({ dir, role: 'anywhere' }))
    const loader = using(new Loader())
    const listener = using(new Listener())
    const deliverFor = deliveringTo(prepared, { service, loader })
    progress('deliveries without streams')
    const alone = await deliverFor(seconds / 6)
    await listener.open({ port: service.port, requests: streamsOf(prepared) })
    progress(
      `deliveries with ${asCount(users * streamsEach)} streams: ${seconds} s, after a warm-up of a sixth of that`,
    )
    const before = await deliveriesKept(bench)
    const flow = await flowFor(seconds, { service, deliverFor })
    await assertAllHeard(bench, { listener, before })
    return { rows: rowsOf(seconds, { alone, flow }), notes: notesOf(seconds, flow) }
  },
}

type Deliver = (seconds: number) => Promise<Loaded>

function deliveringTo(
  { readers, producer }: Prepared,
  { service, loader }: { service: Service; loader: Loader },
): Deliver {
  const requests = readers.map(({ username }) => deliveryRequest(producer, [username]))
  const load = { port: service.port, connections, everyMs, requests, status: 201, warmUpSeconds: 0, watchesDelay: true }
  return (seconds) => loader.measure(service.process, { ...load, seconds })
}

function streamsOf({ readers }: Prepared): string[] {
  return readers.flatMap(({ cookies }) =>
    Array.from({ length: streamsEach }, () => streamRequest(cookies[0] as string)),
  )
}

/** Bytes: resident memory every second, and the heap after a full collection before and after the flow. */
type Flow = Loaded & { resident: number[]; keptBefore: number; keptAfter: number }

async function flowFor(
  seconds: number,
  { service, deliverFor }: { service: Service; deliverFor: Deliver },
): Promise<Flow> {
  await deliverFor(seconds / 6)
  const keptBefore = await kept(service.process)
  const resident: number[] = []
  const sampling = setInterval(async () => resident.push(await memory(service.process)), sampleEveryMs)
  const loaded = await deliverFor(seconds)
  clearInterval(sampling)
  return { ...loaded, resident, keptBefore, keptAfter: await kept(service.process) }
}

function memory(process: BenchProcess): Promise<number> {
  return process.request<number>({ about: 'memory' })
}

function kept(process: BenchProcess): Promise<number> {
  return process.request<number>({ about: 'kept' })
}

function deliveriesKept({ dir }: Bench): Promise<number> {
  return withDatabase(dir, (database) =>
    Number(database.prepare('select sum(total) as count from inbox').get()?.count ?? 0),
  )
}

/** Each delivery during the flow arrived once on each stream of its user, and nothing else did. */
async function assertAllHeard(bench: Bench, { listener, before }: { listener: Listener; before: number }) {
  await new Promise((resolve) => setTimeout(resolve, 500))
  assert.equal(await listener.count(), ((await deliveriesKept(bench)) - before) * streamsEach)
}

function rowsOf(seconds: number, { alone, flow }: { alone: Loaded; flow: Flow }): Row[] {
  return [residentRow(seconds, flow), keptRow(seconds, flow), costRow(alone, flow)]
}

function residentRow(seconds: number, { resident }: Flow): Row {
  const third = Math.floor(resident.length / 3)
  const thirds = [0, third, resident.length - third].map((from) => median(resident.slice(from, from + third)) / 1e6)
  const [first, second, last] = thirds as [number, number, number]
  return {
    what: `resident memory, last third of ${seconds} s of flow`,
    measured: `${last.toFixed(1)} MB`,
    floor: `first third: ${first.toFixed(1)} MB, second: ${second.toFixed(1)} MB`,
    ratio: (last / first).toFixed(2),
    target: `<= ${maxGrowth}`,
    met: last / first <= maxGrowth,
  }
}

function keptRow(seconds: number, { keptBefore, keptAfter }: Flow): Row {
  const grownBy = keptAfter - keptBefore
  return {
    what: `heap after a full collection, after ${seconds} s of flow`,
    measured: `${(keptAfter / 1e6).toFixed(1)} MB`,
    floor: `before: ${(keptBefore / 1e6).toFixed(1)} MB`,
    ratio: (keptAfter / keptBefore).toFixed(2),
    target: `at most ${maxKept / 1e6} MB more`,
    met: grownBy <= maxKept,
  }
}

function costRow(alone: Loaded, flow: Flow): Row {
  const perDelivery = (of: Loaded) => (of.serverShare * 1e6) / of.perSecond
  const each = perDelivery(flow) / streamsEach
  const received = (perDelivery(flow) - perDelivery(alone)) / streamsEach
  return {
    what: 'processor time per event, its delivery included',
    measured: `${each.toFixed(0)} us at ${asCount(flow.perSecond * streamsEach)} events/s, core ${flow.serverShare.toFixed(2)}`,
    floor: `without streams: ${perDelivery(alone).toFixed(0)} us per delivery, so ${received.toFixed(0)} us per event`,
    ratio: '',
    target: '',
    met: undefined,
  }
}

function notesOf(seconds: number, { count, p99Ms, delay, otherProgramsShare }: Flow): string[] {
  return [
    `${asCount(users)} users with ${streamsEach} streams each, one delivery to one user at a time, ${perSecond} per second, for ` +
      `${seconds} s after a warm-up of ${(seconds / 6).toFixed(0)} s; the full length is \`npm run bench -- stream-flow --seconds 600\`.`,
    `All ${asCount(count * streamsEach)} events arrived. Deliveries: p99 ${asMs(p99Ms)}; event loop delay p99 ${asMs(delay?.p99 ?? Number.NaN)}, ` +
      `maximum ${asMs(delay?.max ?? Number.NaN)}; other programs used ${Math.max(0, otherProgramsShare).toFixed(2)} of a core.`,
    'Resident memory: sampled once per second, medians of the thirds. Processor time: user and system, all threads of the ' +
      'service; a processor that sleeps between events is slower than a busy one.',
  ]
}
