// The cost of 10,000 open streams in one process, and the time until one event has reached all of them. The floor is a bare
// node:http server that keeps as many responses open and writes as many bytes to each.
import { setTimeout as pause } from 'node:timers/promises'
import { type Server, startStreamFloor } from '../floors/start-floor.ts'
import { Listener, streamRequest } from '../load/listener.ts'
import { requestText } from '../load/requests.ts'
import { residentMegabytes } from '../processes/of-process.ts'
import { inTurns, median } from '../report/rounds.ts'
import { row } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMegabytes, asMs } from '../report/table.ts'
import { deliveryTo, prepare, requestsOf } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const streamCount = 10_000
/** The maximum of one delivery. */
const users = 1_000
const restMs = 1_000
const targets = { residentMb: 400, aboveFloor: 1.25, lastMs: 250 }

/** Megabytes, and milliseconds of each delivery. */
type Sample = { before: number; open: number; reachedMs: number[] }

export const streams: Scenario = {
  name: 'streams',
  question: '10,000 open streams in one process: their memory, and the time until one event has reached all',
  seconds: 4,
  async run(bench) {
    bench.progress(`making ${users} users and their sessions`)
    const service = await startService({ ...bench, role: 'anywhere' })
    const prepared = await prepare(service, { users, proofs: 1 })
    await service.stop()
    const listener = bench.using(new Listener())
    const text = deliveryTo(prepared.readers, prepared.producer)
    const opening = Array.from({ length: streamCount / users }, () =>
      requestsOf(prepared.readers, 'cookies', streamRequest),
    ).flat()
    const floored = {
      opening: opening.map((_, i) => requestText('GET', `/${i}`, { proof: `Cookie: carillon=${'x'.repeat(80)}` })),
      text: requestText('POST', '/all', { body: '{}' }),
    }
    const taken = await inTurns(bench, {
      floor: async () => measure(bench, { listener, ...(await startStreamFloor(bench)), ...floored }),
      service: async () => {
        const { port, process } = await startService({ ...bench, role: 'anywhere' })
        return measure(bench, { listener, port, process, opening, text })
      },
    })
    return rowsOf(taken)
  },
}

type Measure = Server & { listener: Listener; opening: readonly string[]; text: string }

/** Opens all streams, looks at the memory before, and after they were open for a while, and delivers to all of them. */
async function measure({ seconds }: Bench, { port, process, listener, opening, text }: Measure): Promise<Sample> {
  await pause(restMs)
  const before = residentMegabytes(process.pid)
  await listener.open(port, opening)
  await pause(seconds * 1_000)
  const open = residentMegabytes(process.pid)
  const reachedMs = await listener.follow({ port, texts: [text], events: streamCount, seconds: seconds + 1 })
  await listener.close()
  await process.stop()
  return { before, open, reachedMs }
}

function rowsOf({ floor, service }: Record<'floor' | 'service', Sample[]>) {
  const of = (pick: (sample: Sample) => number) => ({ figures: service.map(pick), floor: { figures: floor.map(pick) } })
  const eachKib = ({ before, open }: Sample) => ((open - before) * 1e6) / streamCount / 1024
  return [
    row({
      what: 'resident memory, 10,000 streams',
      ...of(({ open }) => open),
      as: asMegabytes,
      max: targets.residentMb,
      isAbsolute: true,
    }),
    row({ what: 'memory of a stream', ...of(eachKib), as: (kib) => `${kib.toFixed(1)} KiB`, max: targets.aboveFloor }),
    row({
      what: 'one delivery to all of them, until the last client has the event',
      ...of(({ reachedMs }) => median(reachedMs)),
      as: asMs,
      max: targets.lastMs,
      isAbsolute: true,
    }),
  ]
}
