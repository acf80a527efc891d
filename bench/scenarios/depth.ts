// Compares the first pages with the last pages of an inbox with 900,000 notifications, of which no sequence number is missing: a deep
// page must cost the same.
import { Loader } from '../load/load.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { deliveryTo, prepare } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const inboxSize = 900_000
const limit = 20
/** Pages at each end, each requested once. */
const pagesAtEachEnd = 10_000
const max = 1.1

export const depth: Scenario = {
  name: 'depth',
  question: `the first and the last ${pagesAtEachEnd} pages (limit ${limit}) of ${inboxSize} notifications in one inbox`,
  async run(bench) {
    bench.progress(`making an inbox of ${inboxSize} notifications`)
    const loader = new Loader(bench)
    const filling = await startService(bench, { role: 'anywhere' })
    const { readers, producer } = await prepare(filling, { users: 1, proofs: 1 })
    const proof = readers[0]?.cookies[0] as ProofLine
    const fill = { connections: 64, status: 201, count: inboxSize, seconds: 3_600 }
    await loader.measure(filling, { ...fill, requests: [deliveryTo(readers, producer)] })
    await filling.stop()

    const pagesFrom = (from: number) => {
      const numbers = Array.from({ length: pagesAtEachEnd }, (_, i) => from + i)
      const requests = numbers.map((page) =>
        requestText('GET', `/api/notifications?page=${page}&limit=${limit}`, { proof }),
      )
      return { connections: 64, status: 200, count: pagesAtEachEnd, seconds: 600, requests }
    }
    /** On a service that has just started, so that no page is in its cache. */
    const load = (firstOfPages: number) => async () => {
      const service = await startService(bench)
      await loader.measure(service, pagesFrom(pagesAtEachEnd + 1))
      const loaded = await loader.measure(service, pagesFrom(firstOfPages))
      await service.stop()
      return loaded
    }
    const firstOfLast = inboxSize / limit - pagesAtEachEnd + 1
    const { first, last } = await inTurns(bench, { first: load(1), last: load(firstOfLast) })
    return [costRow({ what: 'processor time of the last pages', of: last, floor: first, max })]
  },
}
