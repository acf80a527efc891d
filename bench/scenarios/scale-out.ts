// Measures one and two processes on one PostgreSQL: what a second process adds, and how a request
// divides its processor time between the processes and the server that they share.
import { type Loaded, Loader } from '../load/load.ts'
import { inTurns } from '../report/rounds.ts'
import { rateRow } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { deliveryTo, fillInboxes, prepare, requestsOf } from '../setup/inboxes.ts'
import { startDatabase } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'
import { firstPage } from './list.ts'

const users = 100
const connections = 32

export const scaleOut: Scenario = {
  name: 'scale-out',
  question: 'lists and deliveries by one and by two processes on one PostgreSQL',
  async run(bench) {
    const { seconds } = bench
    const { url: database, processorUs } = await startDatabase(bench, 'anywhere')
    const first = await startService(bench, { database, role: 'anywhere' })
    const second = await startService(bench, { database, role: 'anywhere' })
    const prepared = await prepare(first, { users: bench.scaled(users), proofs: 1 })
    const { readers, producer } = prepared
    await fillInboxes(first, prepared, 100)
    const loaders = [
      new Loader(bench, 'anywhere', processorUs),
      new Loader(bench, 'anywhere'),
    ] as const
    const lists = { requests: requestsOf(readers, 'cookies', firstPage), status: 200 }
    const deliveries = {
      requests: readers.map((reader) => deliveryTo([reader], producer)),
      status: 201,
    }
    const usual = { connections, seconds, warmUpSeconds: seconds / 4 }
    const byOne = (plan: typeof lists) => () => loaders[0].measure(first, { ...plan, ...usual })
    const byTwo = (plan: typeof lists) => async () =>
      together(
        await Promise.all([
          loaders[0].measure(first, { ...plan, ...usual }),
          loaders[1].measure(second, { ...plan, ...usual }),
        ]),
      )
    const taken = await inTurns(bench, {
      'lists, one process': byOne(lists),
      'lists, two processes': byTwo(lists),
      'deliveries, one process': byOne(deliveries),
      'deliveries, two processes': byTwo(deliveries),
    })
    return [
      rateRow({
        what: 'lists by two processes, beside one',
        of: taken['lists, two processes'],
        floor: taken['lists, one process'],
      }),
      rateRow({
        what: 'deliveries by two processes, beside one',
        of: taken['deliveries, two processes'],
        floor: taken['deliveries, one process'],
      }),
    ]
  },
}

/**
 * Adds what two processes did at the same time. The first one has the figures of the database, and
 * neither counts as another program.
 */
function together([one, other]: readonly [Loaded, Loaded]): Loaded {
  return {
    perSecond: one.perSecond + other.perSecond,
    p99Ms: Math.max(one.p99Ms, other.p99Ms),
    processorShare: one.processorShare + other.processorShare,
    serverShare: one.serverShare + other.serverShare,
    databaseShare: one.databaseShare,
    otherProgramsShare: 0,
  }
}
