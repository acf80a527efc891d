// What a large database costs: a delivery to each of 10,000 inboxes, in a file with 1,000,000 notifications and in one with 1,000
// (the work is the same, so the cost should be, too), and the bytes of a notification in the file.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Loader } from '../load/load.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow, row } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { deliveryTo, fillInboxes, prepare, type Reader } from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'

const inboxes = 10_000
const eachInLarge = 100
/** Deliveries before the measurement, so that the code is compiled and its caches are warm. */
const warmUps = 5_000
const targets = { ratio: 1.25, bytes: 480 }

export const largeDatabase: Scenario = {
  name: 'large-database',
  question:
    'deliveries to 10,000 inboxes of 1,000,000 notifications and of 1,000, and bytes per notification',
  async run(bench) {
    const loader = new Loader(bench, 'anywhere')
    const service = await startService(bench, { role: 'anywhere' })
    const prepared = await prepare(service, { users: inboxes })
    await fillInboxes(service, { ...prepared, readers: prepared.readers.slice(0, 1_000) }, 1)
    await service.stop()

    const large = join(bench.dir, 'large')
    mkdirSync(large)
    copyFileSync(databaseIn(bench.dir), databaseIn(large))
    bench.progress(`making ${inboxes * eachInLarge} notifications`)
    const filling = await startService(bench, { dir: large, role: 'anywhere' })
    await fillInboxes(filling, prepared, eachInLarge)
    await filling.stop()
    const sizeOfLarge = statSync(databaseIn(large)).size
    const sizeOfSmall = statSync(databaseIn(bench.dir)).size

    // To every inbox once, in an order without neighbours: steps of a prime that does not divide the count.
    const reader = (i: number) => prepared.readers[(i * 3_571) % inboxes] as Reader
    const requests = prepared.readers.map((_, i) => deliveryTo([reader(i)], prepared.producer))
    const load = { connections: 64, status: 201, seconds: 120, requests }
    const deliverToAll = (dir: string) => async () => {
      const copy = mkdtempSync(join(bench.dir, 'copy-'))
      copyFileSync(databaseIn(dir), databaseIn(copy))
      const copied = await startService(bench, { dir: copy, role: 'anywhere' })
      await loader.measure(copied, { ...load, count: warmUps })
      const loaded = await loader.measure(copied, { ...load, count: 2 * inboxes })
      await copied.stop()
      rmSync(copy, { recursive: true })
      return loaded
    }
    const all = await inTurns(bench, { small: deliverToAll(bench.dir), large: deliverToAll(large) })
    return [
      costRow({
        what: 'CPU of a delivery, large database',
        of: all.large,
        floor: all.small,
        max: targets.ratio,
      }),
      row({
        what: 'file bytes per notification',
        of: [(sizeOfLarge - sizeOfSmall) / (inboxes * eachInLarge)],
        figure: (bytes) => bytes,
        as: (bytes) => `${bytes.toFixed(0)} bytes`,
        max: targets.bytes,
      }),
    ]
  },
}
