// Deliveries in PostgreSQL: to one recipient, 64 and 1 at once, and to 1,000 recipients in one call.
import { asLoad, cpuUs, rate } from '../floors/compare.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { requestText } from '../load/requests.ts'
import { inTurns, median, spread } from '../report/rounds.ts'
import type { Scenario } from '../report/scenario.ts'
import { asCount, asUs, type Row } from '../report/table.ts'
import { prepareReadersAt } from '../setup/inboxes.ts'
import { settingsNote, startDatabase, startServiceOn } from '../setup/postgres.ts'

const recipientsOfOne = 1_000
const sets = 4
const minPerSecond = 20_000

export const postgresDeliveries: Scenario = {
  name: 'postgres-deliveries',
  question: 'deliveries to one recipient and to 1,000 recipients in one call, in PostgreSQL',
  async run(bench) {
    const { checkout, dir, seconds } = bench
    const database = await startDatabase(bench, 'anywhere')
    bench.progress(`making ${sets * recipientsOfOne} users`)
    const users = sets * recipientsOfOne
    const { readers, producer } = await prepareReadersAt(checkout, database.url, { users, proofs: 0 })
    const service = bench.using(await startServiceOn(database, { checkout, dir, role: 'anywhere' }))
    const loader = bench.using(new Loader('anywhere', database.processorUs))
    const usernames = readers.map(({ username }) => username)
    const deliver = (to: string[]) => {
      const recipients = to.map((username) => ({ username }))
      const content = { recipients, title: 'Number 1', body: 'It is on its way.', category: 'orders' }
      return requestText('POST', '/api/notifications', { proof: producer, body: JSON.stringify(content) })
    }
    const toOne = usernames.map((username) => deliver([username]))
    const toMany = Array.from({ length: sets }, (_, i) =>
      deliver(usernames.slice(i * recipientsOfOne, (i + 1) * recipientsOfOne)),
    )
    const load = (requests: readonly string[], connections: number) => () =>
      loader.measure(service.process, {
        port: service.port,
        connections,
        requests,
        status: 201,
        seconds,
        warmUpSeconds: seconds / 2,
      })
    const taken = await inTurns(bench, {
      contenders: {
        '64 at once': load(toOne, 64),
        'one at a time': load(toOne, 1),
        'one call': load(toMany, 1),
        'calls at once': load(toMany, sets),
      },
    })
    const what = 'notifications in PostgreSQL, 1,000 recipients per call'
    return {
      rows: [
        deliveriesRow('deliveries in PostgreSQL, 64 at once', taken['64 at once']),
        deliveriesRow('deliveries in PostgreSQL, one at a time', taken['one at a time']),
        notificationsRow(`${what}, one call at a time`, taken['one call'], minPerSecond),
        notificationsRow(`${what}, ${sets} calls at once`, taken['calls at once']),
      ],
      notes: [
        `PostgreSQL ${database.version}. ${settingsNote}`,
        `Through HTTP, each response after its commit; service and PostgreSQL on all cores. Sync: ${database.sync}.`,
        `One recipient: to ${asCount(users)} users one after another, with a category. 1,000 recipients: to ${sets} sets of users; "at once" ` +
          `are ${sets} calls, each to a different set. "core" and CPU count the service; those of PostgreSQL are listed after them.`,
      ],
    }
  },
}

function deliveriesRow(what: string, samples: readonly Loaded[]): Row {
  return {
    what,
    measured: `${asLoad(samples)}; ${databaseLoad(samples)}`,
    floor: '',
    ratio: '',
    target: '',
    met: undefined,
    figures: samples.map(rate),
  }
}

function notificationsRow(what: string, samples: readonly Loaded[], min?: number): Row {
  const figures = samples.map((sample) => rate(sample) * recipientsOfOne)
  const { median: middle, min: lowest, max } = spread(figures)
  return {
    what,
    measured: `${asCount(middle)}/s (${asCount(lowest)}-${asCount(max)}); calls: ${asLoad(samples)}; ${databaseLoad(samples)}`,
    floor: '',
    ratio: '',
    target: min === undefined ? '' : `>= ${asCount(min)}/s`,
    met: min === undefined ? undefined : middle >= min,
    figures,
  }
}

function databaseLoad(samples: readonly Loaded[]): string {
  const share = median(samples.map(({ databaseShare }) => databaseShare))
  const each = median(samples.map(({ databaseShare, perSecond }) => cpuUs({ serverShare: databaseShare, perSecond })))
  return `PostgreSQL ${share.toFixed(2)}, ${asUs(each)} each`
}
