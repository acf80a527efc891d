// Measures what the numbers cost: lists and deliveries with metrics and the operator's page on and
// off, and the processor time of each view of that page with 400 days of hours and 100,000 users.
import { DatabaseSync } from 'node:sqlite'
import { freePort } from '../../tests/support/network/free-port.ts'
import { Loader, type Server } from '../load/load.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow, rateRow } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { run } from '../setup/checkout.ts'
import { deliveryTo, fillInboxes, prepare, requestsOf } from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'
import { firstPage } from './list.ts'

const users = 100
const inboxSize = 100
const pageUsers = 100_000
const days = 400
/** Names of a busy hour. */
const names = 50
const targets = { share: 0.98, pageUs: 200_000 }

export const metrics: Scenario = {
  name: 'metrics',
  question:
    'lists and deliveries with metrics and the page of the operator on, compared with the same service without',
  async run(bench) {
    const { seconds } = bench
    const filling = await startService(bench, { role: 'anywhere' })
    const prepared = await prepare(filling, { users: bench.scaled(users), proofs: 1 })
    await fillInboxes(filling, prepared, inboxSize)
    await filling.stop()
    const { readers, producer } = prepared
    const lists = requestsOf(readers, 'tokens', firstPage)
    const deliveries = readers.map((reader) => deliveryTo([reader], producer))
    const loader = new Loader(bench)
    /** One service at a time: SQLite has one process. */
    const measured =
      (settings: Record<string, string>, requests: readonly string[], status: number) =>
      async () => {
        const service = await startService(bench, { settings })
        const load = { requests, status, connections: 64, seconds, warmUpSeconds: seconds / 4 }
        const loaded = await loader.measure(service, load)
        await service.stop()
        return loaded
      }
    const off = { CARILLON_OPERATOR_PAGE: 'off' }
    const on = { CARILLON_OPERATOR_PAGE: 'on', CARILLON_METRICS_PORT: String(await freePort()) }
    const taken = await inTurns(bench, {
      'list off': measured(off, lists, 200),
      'list on': measured(on, lists, 200),
      'deliver off': measured(off, deliveries, 201),
      'deliver on': measured(on, deliveries, 201),
    })
    const min = targets.share
    return [
      rateRow({ what: 'list with metrics', of: taken['list on'], floor: taken['list off'], min }),
      rateRow({
        what: 'delivery with metrics',
        of: taken['deliver on'],
        floor: taken['deliver off'],
        min,
      }),
    ]
  },
}

export const operatorPage: Scenario = {
  name: 'operator-page',
  question: `the routes of the page /operator: Now with ${days} days of hours, Users with ${pageUsers} users`,
  async run(bench) {
    const filling = await startService(bench, { role: 'anywhere' })
    const { readers } = await prepare(filling, {
      users: bench.scaled(pageUsers),
      proofs: 1,
      signedIn: 1,
    })
    const [reader] = readers
    const proof = reader?.cookies[0] as ProofLine
    const role = ['user', 'role', String(reader?.username), 'operator']
    run(bench.checkout.root, 'server/bin/launch.js', role, filling.settings)
    await filling.stop()
    fillHours(databaseIn(bench.dir))
    const service = await startService(bench)
    const loader = new Loader(bench)
    const taken = await inTurns(bench, {
      now: timed(bench, loader, service, ['now', 'numbers?range=month'], proof),
      attacks: timed(bench, loader, service, ['attacks'], proof),
      users: timed(bench, loader, service, ['users'], proof),
      search: timed(bench, loader, service, ['users?search=reader-99999'], proof),
    })
    const max = targets.pageUs
    return [
      costRow({ what: `CPU of Now, ${days} days of hours`, of: taken.now, max }),
      costRow({ what: 'CPU of Attacks', of: taken.attacks, max }),
      costRow({ what: `CPU of the first page of ${pageUsers} users`, of: taken.users, max }),
      costRow({
        what: `CPU of a search that finds the last of ${pageUsers} users`,
        of: taken.search,
        max,
      }),
    ]
  },
}

/** One request at a time, as one operator makes them. */
function timed(
  { seconds }: Bench,
  loader: Loader,
  service: Server,
  paths: readonly string[],
  proof: ProofLine,
) {
  const requests = paths.map((path) => requestText('GET', `/api/operator/${path}`, { proof }))
  return () =>
    loader.measure(service, {
      requests,
      status: 200,
      connections: 1,
      seconds,
      warmUpSeconds: seconds / 4,
    })
}

function fillHours(path: string): void {
  const database = new DatabaseSync(path)
  const insert = database.prepare(
    'insert or replace into hourly (hour, name, count, max) values (?, ?, ?, 0)',
  )
  const hour = Math.floor(Date.now() / 3_600_000)
  database.exec('begin')
  for (let n = 0; n < days * 24; n++)
    for (let name = 0; name < names; name++)
      insert.run(hour - n, name === 0 ? 'sign-ins-refused' : `bench-${name}`, n)
  database.exec('commit')
  database.close()
}
