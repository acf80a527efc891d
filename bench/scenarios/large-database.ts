// What a large database costs: a delivery to each of 10,000 inboxes, in a file with 1,000,000 notifications and in one with 1,000
// (the work is the same, so the cost should be, too), and the bytes of a notification in the file.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Loaded, Loader } from '../load/loader.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow, row } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { deliveryTo, fillInboxes, type Prepared, prepare, type Reader } from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'

const inboxes = 10_000
const eachInLarge = 100
/** Deliveries before the measurement, so that the code is compiled and its caches are warm. */
const warmUps = 5_000
const targets = { ratio: 1.25, bytes: 480 }

export const largeDatabase: Scenario = {
  name: 'large-database',
  question: 'deliveries to 10,000 inboxes of 1,000,000 notifications and of 1,000, and bytes per notification',
  async run(bench) {
    const loader = bench.using(new Loader('anywhere'))
    const service = await startService({ ...bench, role: 'anywhere' })
    const prepared = await prepare(service, { users: inboxes })
    await fillInboxes(service, { ...prepared, readers: prepared.readers.slice(0, 1_000) }, 1)
    await service.stop()
    const sizeOfSmall = statSync(databaseIn(bench.dir)).size
    const large = await fillLarge(bench, prepared)
    const bytes = (statSync(databaseIn(large)).size - sizeOfSmall) / (inboxes * eachInLarge)
    // To every inbox once, in an order without neighbours: steps of a prime that does not divide the count.
    const reader = (i: number) => prepared.readers[(i * 3_571) % inboxes] as Reader
    const requests = prepared.readers.map((_, i) => deliveryTo([reader(i)], prepared.producer))
    const all = await inTurns(bench, {
      small: () => deliverToAll(bench, { loader, dir: bench.dir, requests }),
      large: () => deliverToAll(bench, { loader, dir: large, requests }),
    })
    return [
      costRow({ what: 'CPU of a delivery, large database', of: all.large, floor: all.small, max: targets.ratio }),
      row({
        what: 'file bytes per notification',
        figures: [bytes],
        as: (figure) => `${figure.toFixed(0)} bytes`,
        max: targets.bytes,
      }),
    ]
  },
}

/** A copy of the database with more notifications. */
async function fillLarge(bench: Bench, prepared: Prepared): Promise<string> {
  const dir = join(bench.dir, 'large')
  mkdirSync(dir)
  copyFileSync(databaseIn(bench.dir), databaseIn(dir))
  bench.progress(`making ${inboxes * eachInLarge} notifications`)
  const service = await startService({ ...bench, dir, role: 'anywhere' })
  await fillInboxes(service, prepared, eachInLarge)
  await service.stop()
  return dir
}

async function deliverToAll(
  bench: Bench,
  { loader, dir, requests }: { loader: Loader; dir: string; requests: readonly string[] },
): Promise<Loaded> {
  const copy = mkdtempSync(join(bench.dir, 'copy-'))
  copyFileSync(databaseIn(dir), databaseIn(copy))
  const service = await startService({ ...bench, dir: copy, role: 'anywhere' })
  const load = { port: service.port, connections: 64, status: 201, seconds: 120, requests }
  await loader.measure(service.process, { ...load, count: warmUps })
  const loaded = await loader.measure(service.process, { ...load, count: 2 * inboxes })
  await service.stop()
  rmSync(copy, { recursive: true })
  return loaded
}
