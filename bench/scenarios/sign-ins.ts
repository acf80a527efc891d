// Sign-ins by password per second, and their effect on users who are already signed in.
import { type Loaded, Loader } from '../load/load.ts'
import { inTurns } from '../report/rounds.ts'
import { p99Row, rateRow } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { fillInboxes, loginsOf, prepare, requestsOf } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'
import { firstPage, listsOfOthers } from './list.ts'

const targets = { perSecond: 100, ms: 10 }

/** The sign-ins at the same time, if there were some. */
type Sample = { lists: Loaded; logged?: Loaded }

export const signIns: Scenario = {
  name: 'sign-ins',
  question: 'sign-ins by password per second, and the p99 of other requests at the same time',
  async run(bench) {
    const service = await startService(bench, { role: 'anywhere' })
    const prepared = await prepare(service, { users: 100, proofs: 1 })
    await fillInboxes(service, prepared, 100)
    const signer = new Loader(bench, 'anywhere')
    const lister = new Loader(bench, 'anywhere')
    const usual = { status: 200, seconds: bench.seconds, warmUpSeconds: 0.7 }
    const listing = {
      ...usual,
      ...listsOfOthers,
      requests: requestsOf(prepared.readers, 'cookies', firstPage),
    }
    const logins = { ...usual, connections: 16, requests: loginsOf(prepared.readers) }
    const list = () => lister.measure(service, listing)
    const { quiet, busy } = await inTurns<'quiet' | 'busy', Sample>(bench, {
      quiet: async () => ({ lists: await list() }),
      busy: async () => {
        const [lists, logged] = await Promise.all([list(), signer.measure(service, logins)])
        return { lists, logged }
      },
    })
    const of = (samples: Sample[]) => samples.map(({ lists }) => lists)
    return [
      rateRow({
        what: 'sign-ins by password',
        of: busy.flatMap(({ logged }) => logged ?? []),
        min: targets.perSecond,
      }),
      p99Row({
        what: 'p99 of lists at the same time',
        of: of(busy),
        floor: of(quiet),
        max: targets.ms,
      }),
    ]
  },
}
