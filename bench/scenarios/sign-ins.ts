// Sign-ins by password per second, and their effect on users who are already signed in.
import { type Loaded, Loader } from '../load/loader.ts'
import { inTurns } from '../report/rounds.ts'
import { rateRow, row } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { asMs } from '../report/table.ts'
import { fillInboxes, loginsOf, prepare, requestsOf } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'
import { firstPage } from './list.ts'

const targets = { perSecond: 100, ms: 10 }

/** The sign-ins at the same time, if there were some. */
type Sample = { lists: Loaded; logged?: Loaded }

export const signIns: Scenario = {
  name: 'sign-ins',
  question: 'sign-ins by password per second, and the p99 of other requests at the same time',
  async run(bench) {
    const { seconds } = bench
    const service = bench.using(await startService({ ...bench, role: 'anywhere' }))
    const prepared = await prepare(service, { users: 100, proofs: 1 })
    await fillInboxes(service, prepared, 100)
    const [signer, lister] = [bench.using(new Loader('anywhere')), bench.using(new Loader('anywhere'))]
    const on = { port: service.port, status: 200, seconds, warmUpSeconds: 0.7 }
    const listing = { ...on, connections: 8, everyMs: 40, requests: requestsOf(prepared.readers, 'cookies', firstPage) }
    const logins = { ...on, connections: 16, requests: loginsOf(prepared.readers) }
    const listNow = () => lister.measure(service.process, listing)
    const { quiet, busy } = await inTurns<'quiet' | 'busy', Sample>(bench, {
      quiet: async () => ({ lists: await listNow() }),
      busy: async () => {
        const [listed, logged] = await Promise.all([listNow(), signer.measure(service.process, logins)])
        return { lists: listed, logged }
      },
    })
    return [
      rateRow({ what: 'sign-ins by password', of: busy.flatMap(({ logged }) => logged ?? []), min: targets.perSecond }),
      row({
        what: 'p99 of lists at the same time',
        figures: busy.map(({ lists }) => lists.p99Ms),
        as: asMs,
        floor: { figures: quiet.map(({ lists }) => lists.p99Ms) },
        max: targets.ms,
        isAbsolute: true,
      }),
    ]
  },
}
