// The cost of 10,000 open streams in one process, and the time until one event has reached all of them. The floor is a bare
// node:http server that keeps as many responses open and writes as many bytes to each.
import { setTimeout as pause } from 'node:timers/promises'
import { startStreamFloor } from '../floors/floor.ts'
import { Listener, streamRequest } from '../load/listen.ts'
import type { Server } from '../load/load.ts'
import { requestText } from '../load/requests.ts'
import { residentMegabytes } from '../processes/of-process.ts'
import { inTurns, median } from '../report/rounds.ts'
import { row } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { asMegabytes, asMs } from '../report/table.ts'
import { deliveryTo, prepare, requestsOf } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const streamCount = 10_000
/** The maximum of one delivery. */
const users = 1_000
const restMs = 1_000
const targets = { residentMb: 400, aboveFloor: 1.25, lastMs: 250 }

export const streams: Scenario = {
  name: 'streams',
  question:
    '10,000 open streams in one process: their memory, and the time until one event has reached all',
  seconds: 4,
  async run(bench) {
    const { seconds } = bench
    bench.progress(`making ${users} users and their sessions`)
    const making = await startService(bench, { role: 'anywhere' })
    const prepared = await prepare(making, { users, proofs: 1 })
    await making.stop()
    const listener = new Listener(bench)
    const ofUsers = requestsOf(prepared.readers, 'cookies', streamRequest)
    const requests = Array.from({ length: streamCount }, (_, i) => ofUsers[i % users] as string)
    const text = deliveryTo(prepared.readers, prepared.producer)
    const proof = `Cookie: carillon=${'x'.repeat(80)}`
    const toFloor = {
      requests: requests.map((_, i) => requestText('GET', `/${i}`, { proof })),
      text: requestText('POST', '/all', { body: '{}' }),
    }
    const { floor, service: of } = await inTurns(bench, {
      floor: async () =>
        measure(listener, { ...(await startStreamFloor(bench)), seconds, ...toFloor }),
      service: async () => {
        const service = await startService(bench, { role: 'anywhere' })
        return measure(listener, { ...service, seconds, requests, text })
      },
    })
    return [
      row({
        what: 'resident memory, 10,000 streams',
        of,
        floor,
        figure: ({ open }) => open,
        as: asMegabytes,
        max: targets.residentMb,
        isAbsolute: true,
      }),
      row({
        what: 'memory of a stream',
        of,
        floor,
        figure: ({ before, open }) => ((open - before) * 1e6) / streamCount / 1024,
        as: (kib) => `${kib.toFixed(1)} KiB`,
        max: targets.aboveFloor,
      }),
      row({
        what: 'one delivery to all of them, until the last client has the event',
        of,
        floor,
        figure: ({ reachedMs }) => median(reachedMs),
        as: asMs,
        max: targets.lastMs,
        isAbsolute: true,
      }),
    ]
  },
}

type Measure = Server & { seconds: number; requests: readonly string[]; text: string }
/** Megabytes, and milliseconds of each delivery. */
type Sample = { before: number; open: number; reachedMs: number[] }

/** Opens all streams, looks at the memory before, and after they were open for a while, and delivers to all of them. */
async function measure(
  listener: Listener,
  { port, process, seconds, requests, text }: Measure,
): Promise<Sample> {
  await pause(restMs)
  const before = residentMegabytes(process.pid)
  await listener.open({ port, requests })
  await pause(seconds * 1_000)
  const open = residentMegabytes(process.pid)
  const reachedMs = await listener.follow({
    port,
    texts: [text],
    events: streamCount,
    seconds: seconds + 1,
  })
  await listener.close()
  await process.stop()
  return { before, open, reachedMs }
}
