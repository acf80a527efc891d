// Deliveries in PostgreSQL: to one recipient, 64 and 1 at once, and to 1,000 recipients in one call; and a change by key of
// those 1,000.
import { Loader } from '../load/load.ts'
import { inTurns } from '../report/rounds.ts'
import { asRate, rate, rateRow, row, timeRow } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { changeByKey, deliveryTo, prepare, sendAll } from '../setup/inboxes.ts'
import { startDatabase } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'

const users = 1_000
const minPerSecond = 20_000
/** A change by key may take so many times as long as a call with as many recipients. */
const maxOfChange = 1.5
const key = 'order-100234'

export const postgresDeliveries: Scenario = {
  name: 'postgres-deliveries',
  question:
    'deliveries to one recipient and to 1,000 in one call, and a change of those 1,000 by key, in PostgreSQL',
  async run(bench) {
    const { seconds } = bench
    const { url: database, processorUs } = await startDatabase(bench, 'anywhere')
    const service = await startService(bench, { database, role: 'anywhere' })
    const { readers, producer } = await prepare(service, { users })
    const loader = new Loader(bench, 'anywhere', processorUs)
    const toOne = readers.map((reader) => deliveryTo([reader], producer))
    await sendAll(service.port, [deliveryTo(readers, producer, { key })], 201)
    const load =
      (requests: readonly string[], connections: number, status = 201) =>
      () =>
        loader.measure(service, {
          connections,
          requests,
          status,
          seconds,
          warmUpSeconds: seconds / 2,
        })
    const taken = await inTurns(bench, {
      '64 at once': load(toOne, 64),
      'one at a time': load(toOne, 1),
      'to 1,000': load([deliveryTo(readers, producer)], 1),
      'by key': load([changeByKey(key, producer)], 1, 200),
    })
    return [
      rateRow({ what: 'deliveries in PostgreSQL, 64 at once', of: taken['64 at once'] }),
      rateRow({ what: 'deliveries in PostgreSQL, one at a time', of: taken['one at a time'] }),
      row({
        what: 'notifications in PostgreSQL, 1,000 recipients per call',
        of: taken['to 1,000'],
        figure: (sample) => rate(sample) * users,
        as: asRate,
        min: minPerSecond,
      }),
      timeRow({
        what: 'change by key of 1,000 inboxes in PostgreSQL, beside one call with 1,000 recipients',
        of: taken['by key'],
        floor: taken['to 1,000'],
        max: maxOfChange,
      }),
    ]
  },
}
