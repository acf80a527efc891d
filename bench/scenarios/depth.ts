// Compares the first pages with the last pages of an inbox with 900,000 notifications, of which no sequence number is missing: a deep
// page must cost the same.
import { Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { deliveryTo, prepare } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const inboxSize = 900_000
const limit = 20
const lastPage = inboxSize / limit
/** Pages at each end, each requested once. */
const pagesAtEachEnd = 10_000
const max = 1.1

export const depth: Scenario = {
  name: 'depth',
  question: `the first and the last ${pagesAtEachEnd} pages (limit ${limit}) of ${inboxSize} notifications in one inbox`,
  async run(bench) {
    bench.progress(`making an inbox of ${inboxSize} notifications`)
    const loader = bench.using(new Loader())
    const filling = await startService({ ...bench, role: 'anywhere' })
    const { readers, producer } = await prepare(filling, { users: 1, proofs: 1 })
    const proof = readers[0]?.cookies[0] as ProofLine
    const requests = [deliveryTo(readers, producer, 'orders')]
    const fill = { port: filling.port, connections: 64, requests, status: 201, count: inboxSize, seconds: 3_600 }
    await loader.measure(filling.process, fill)

    /** On a service that has just started, so that no page is in its cache. */
    const load = (firstOfPages: number) => async () => {
      const service = await startService(bench)
      const pagesFrom = (from: number) =>
        Array.from({ length: pagesAtEachEnd }, (_, i) =>
          requestText('GET', `/api/notifications?page=${from + i}&limit=${limit}`, { proof }),
        )
      const plan = { port: service.port, connections: 64, status: 200, count: pagesAtEachEnd, seconds: 600 }
      await loader.measure(service.process, { ...plan, requests: pagesFrom(pagesAtEachEnd + 1) })
      const loaded = await loader.measure(service.process, { ...plan, requests: pagesFrom(firstOfPages) })
      await service.stop()
      return loaded
    }
    await filling.stop()
    const { first, last } = await inTurns(bench, { first: load(1), last: load(lastPage - pagesAtEachEnd + 1) })
    return [costRow({ what: 'processor time of the last pages', of: last, floor: first, max })]
  },
}
