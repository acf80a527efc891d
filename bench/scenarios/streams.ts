// The cost of 10,000 open streams in one process, and the time until one event has reached all of them. The floor is a bare
// node:http server that keeps as many responses open and writes the same bytes to each.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { isDisturbed, type Server } from '../floors/compare.ts'
import { sampleStream, startStreamFloor } from '../floors/start-stream-floor.ts'
import type { StreamSample } from '../floors/stream-floor.ts'
import { type Broadcast, broadcastFor, deliveryRequest, Listener, streamRequest } from '../load/listener.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { requestText } from '../load/requests.ts'
import { withOtherPrograms } from '../processes/other-programs.ts'
import type { Delay } from '../processes/probe.ts'
import { inTurns, median, ratios, type Spread, spread } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asCount, asMs, asRatio, type Row } from '../report/table.ts'
import { type Prepared, prepareReaders } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const streamCount = 10_000
/** The maximum of one delivery. */
const maxRecipients = 1_000
const restMs = 1_000
const limits = { residentMb: 400, aboveFloorKib: 4, lastMs: 250, delayMs: 10, listMs: 100 }
const listing = { connections: 8, everyMs: 20 }

export const streams: Scenario = {
  name: 'streams',
  question: '10,000 open streams in one process: their memory, and the time until one event has reached all',
  seconds: 4,
  async run(bench) {
    const files = openFilesAllowed()
    if (files < streamCount + 200) return { rows: [notMeasured(files)], notes: [] }
    const { progress, using } = bench
    progress(`making ${asCount(streamCount)} users and their sessions`)
    const prepared = await prepareReaders(bench, { users: streamCount, proofs: 1 })
    const listener = using(new Listener())
    const loader = using(new Loader())
    const sample = await sampleOf(bench, prepared)
    const taken = await inTurns<Name, Sample>(bench, {
      isDisturbed,
      contenders: {
        floor: () => measureFloor(bench, { listener, sample }),
        tenEach: () => measureService(bench, { listener, loader, prepared, users: maxRecipients }),
        oneEach: () => measureService(bench, { listener, loader, prepared, users: streamCount }),
      },
    })
    return { rows: rowsOf(taken), notes: notesOf(bench, { sample, samples: Object.values(taken).flat() }) }
  },
}

type Name = 'floor' | 'tenEach' | 'oneEach'
type Memory = { before: number; open: number }
type Sample = { memory: Memory; broadcasts: Broadcast[]; otherProgramsShare: number; loaded?: Loaded }

/** The limit of open files per process, to which Node raises itself. */
function openFilesAllowed(): number {
  try {
    return Number(/^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

async function sampleOf({ checkout, dir }: Bench, { readers, producer }: Prepared): Promise<StreamSample> {
  const service = await startService({ checkout, dir })
  const [{ username, cookies }] = readers as [Prepared['readers'][0]]
  const stream = streamRequest(cookies[0] as string)
  const sample = await sampleStream(service.port, { stream, delivery: deliveryRequest(producer, [username]) })
  await service.stop()
  return sample
}

type Crowd = { listener: Listener; loader: Loader; prepared: Prepared; users: number }

async function measureService(bench: Bench, { listener, loader, prepared, users }: Crowd): Promise<Sample> {
  const { checkout, dir, seconds, using } = bench
  const service = using(await startService({ checkout, dir, role: 'anywhere' }))
  const readers = prepared.readers.slice(0, users)
  const opening = Array.from({ length: streamCount }, (_, i) => streamRequest(readers[i % users]?.cookies[0] as string))
  const memory = await openAll(service, { listener, opening, seconds })
  const texts = Array.from({ length: users / maxRecipients }, (_, i) =>
    deliveryRequest(
      prepared.producer,
      readers.slice(i * maxRecipients, (i + 1) * maxRecipients).map(({ username }) => username),
    ),
  )
  const requests = readers.map(({ cookies }) =>
    requestText('GET', '/api/notifications', { proof: cookies[0] as string }),
  )
  const load = {
    port: service.port,
    ...listing,
    requests,
    status: 200,
    seconds,
    warmUpSeconds: 0.5,
    watchesDelay: true,
  }
  const { result, otherProgramsShare } = await withOtherPrograms([service.process, listener.process], () =>
    Promise.all([
      loader.measure(service.process, load),
      // The lists start before the delay is measured and end after it.
      broadcastFor(seconds + 1, { port: service.port, texts, events: streamCount, listener }),
    ]),
  )
  const [loaded, broadcasts] = result
  await listener.close()
  await service.stop()
  return { memory, broadcasts, loaded, otherProgramsShare }
}

async function measureFloor(
  bench: Bench,
  { listener, sample }: { listener: Listener; sample: StreamSample },
): Promise<Sample> {
  const { seconds, using } = bench
  const floor = using(await startStreamFloor(sample))
  const opening = Array.from({ length: streamCount }, (_, i) => requestText('GET', `/${i}`, { proof: sizedProof }))
  const memory = await openAll(floor, { listener, opening, seconds })
  const texts = [requestText('POST', '/all', { body: '{}' })]
  const { result: broadcasts, otherProgramsShare } = await withOtherPrograms([floor.process, listener.process], () =>
    broadcastFor(seconds + 1, { port: floor.port, texts, events: streamCount, listener }),
  )
  await listener.close()
  await floor.stop()
  return { memory, broadcasts, otherProgramsShare }
}

/** As long as a session's cookie. */
const sizedProof = `Cookie: carillon=${'x'.repeat(80)}`

type Opening = { listener: Listener; opening: string[]; seconds: number }

/** Opens all streams. Returns the memory in bytes before, and after they were open for `seconds`. */
async function openAll(server: Server, { listener, opening, seconds }: Opening): Promise<Memory> {
  await pause(restMs)
  const before = await server.process.request<number>({ about: 'memory' })
  await listener.open({ port: server.port, requests: opening })
  await pause(seconds * 1_000)
  return { before, open: await server.process.request<number>({ about: 'memory' }) }
}

function rowsOf({ floor, tenEach, oneEach }: Record<Name, Sample[]>): Row[] {
  const [ofFew, ofMany] = ['1,000 users with 10 each', '10,000 users with one each'] as const
  return [
    residentRow(ofFew, tenEach, floor),
    eachRow(ofFew, tenEach, floor),
    lastRow('one delivery to all of them, until the last client has the event', { of: tenEach, pick: fromSent, floor }),
    lastRow('the same, from its 201', { of: tenEach, pick: fromResponse }),
    ...delayRows(ofFew, tenEach),
    listRow(ofFew, tenEach),
    residentRow(ofMany, oneEach, floor),
    eachRow(ofMany, oneEach, floor),
    lastRow('10 deliveries at once, from the last 201 to the last client', { of: oneEach, pick: fromResponse }),
    { ...lastRow('the same, from the first request', { of: oneEach, pick: fromSent }), target: '', met: undefined },
    ...delayRows(ofMany, oneEach),
    listRow(ofMany, oneEach),
  ]
}

const fromSent = (one: Broadcast) => one.fromSent
const fromResponse = (one: Broadcast) => one.fromResponse

function residentRow(shape: string, of: Sample[], floor: Sample[]): Row {
  const resident = (samples: Sample[]) => samples.map(({ memory }) => memory.open / 1e6)
  const before = median(of.map(({ memory }) => memory.before / 1e6))
  return {
    what: `resident memory, 10,000 streams: ${shape}`,
    measured: `${format(spread(resident(of)))} MB, before ${before.toFixed(0)} MB`,
    floor: `${median(resident(floor)).toFixed(0)} MB`,
    ratio: asRatio(ratios(resident(of), resident(floor))),
    target: `< ${limits.residentMb} MB`,
    met: median(resident(of)) < limits.residentMb,
  }
}

function eachRow(shape: string, of: Sample[], floor: Sample[]): Row {
  const each = (samples: Sample[]) => samples.map(({ memory }) => (memory.open - memory.before) / streamCount / 1024)
  return {
    what: `memory per stream: ${shape}`,
    measured: `${format(spread(each(of)), 1)} KiB`,
    floor: `${median(each(floor)).toFixed(1)} KiB`,
    ratio: asRatio(ratios(each(of), each(floor))),
    target: `<= ${limits.aboveFloorKib} KiB above the floor`,
    met: median(each(of)) - median(each(floor)) <= limits.aboveFloorKib,
  }
}

type Reaching = { of: Sample[]; pick: (one: Broadcast) => number; floor?: Sample[] }

function lastRow(what: string, { of, pick, floor }: Reaching): Row {
  const typical = (samples: Sample[]) => samples.map(({ broadcasts }) => median(broadcasts.map(pick)))
  const all = of.flatMap(({ broadcasts }) => broadcasts.map(pick))
  return {
    what,
    measured: `${format(spread(typical(of)))} ms, maximum of ${all.length} ${asMs(Math.max(...all))}`,
    floor: floor === undefined ? '' : asMs(median(typical(floor))),
    ratio: floor === undefined ? '' : asRatio(ratios(typical(of), typical(floor))),
    target: `< ${limits.lastMs} ms`,
    met: median(typical(of)) < limits.lastMs,
  }
}

function delayRows(shape: string, of: Sample[]): Row[] {
  const delays = of.map(({ loaded }) => loaded?.delay as Delay)
  const longest = spread(delays.map(({ max }) => max))
  const own = spread(delays.map(({ ownMax }) => ownMax))
  const common = { floor: '', ratio: '', target: `< ${limits.delayMs} ms` }
  return [
    {
      ...common,
      what: `event loop delay under this load, maximum: ${shape}`,
      measured: `${format(longest)} ms, p99 ${asMs(median(delays.map(({ p99 }) => p99)))}`,
      met: longest.median < limits.delayMs,
    },
    {
      ...common,
      what: "the same, only the processor time of the service's own thread",
      measured: `${format(own)} ms`,
      met: own.median < limits.delayMs,
    },
  ]
}

function listRow(shape: string, of: Sample[]): Row {
  const p99 = spread(of.map(({ loaded }) => loaded?.p99Ms as number))
  return {
    what: `p99 of lists at the same time: ${shape}`,
    measured: `${format(p99)} ms`,
    floor: '',
    ratio: '',
    target: `< ${limits.listMs} ms`,
    met: p99.median < limits.listMs,
  }
}

function format(of: Spread, digits = 0): string {
  return `${of.median.toFixed(digits)} (${of.min.toFixed(digits)}-${of.max.toFixed(digits)})`
}

function notMeasured(files: number): Row {
  return {
    what: '10,000 streams',
    measured: `the limit of open files is ${files} here`,
    floor: '',
    ratio: '',
    target: `< ${limits.residentMb} MB`,
    met: 'not measured',
  }
}

function notesOf({ seconds }: Bench, { sample, samples }: { sample: StreamSample; samples: Sample[] }): string[] {
  const strangers = Math.max(...samples.map(({ otherProgramsShare }) => otherProgramsShare)).toFixed(2)
  return [
    `Memory: resident, as the system counts it, ${restMs / 1_000} s after the start and ${seconds} s after the last stream was opened.`,
    `An event of ${Buffer.byteLength(sample.event)} bytes; the next follows when all clients have it, for ${seconds + 1} s; medians of a round's ` +
      'events. Measured from the request, or from its 201, to the last byte at the last client. The clients are one ' +
      'process on one core. The service has all cores, since its writer is a separate thread.',
    'The floor: bare `node:http` that keeps 10,000 responses open and writes the same bytes to each in one loop, without ' +
      'sign-in or store.',
    `Event loop delay and lists: while one event follows another without a pause; ${listing.connections} connections that list a page ` +
      `every ${listing.everyMs} ms, from the core of the clients. Processor time: the maximum that the ` +
      "service's own thread used between two timers of 1 ms; its writer and the clients share the two cores. " +
      `What is no part of the bench used at most ${strangers} of a core.`,
  ]
}
