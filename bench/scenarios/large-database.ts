// What a large database costs: a delivery to each of 10,000 inboxes, in a file with 1,000,000 notifications (5,000,000 with SOAK=1) and in
// one with 1,000 (the work is the same, so the cost should be, too), and the bytes of a notification in the file.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { asLoad, cpuUs } from '../floors/compare.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns, median, ratios } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asCount, asRatio, type Row } from '../report/table.ts'
import { fillInboxes, type Prepared, prepareReaders, type Reader } from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'

const inboxes = 10_000
const isSoak = process.env.SOAK !== undefined
const sizes = { small: 1_000, large: isSoak ? 5_000_000 : 1_000_000 }
const connections = 64
/** Deliveries before the measurement, so that the code is compiled and its caches are warm. */
const warmUps = 5_000
const maxRatio = isSoak ? 1.6 : 1.25
/** `atOnce`: recipients of one call. */
const storage = { inboxes: 1_000, each: 100, atOnce: 100, maxBytes: 420 }
const createdAt = '2026-01-01T00:00:00.000Z'

export const largeDatabase: Scenario = {
  name: 'large-database',
  question: 'deliveries to 10,000 inboxes of 1,000,000 notifications and of 1,000, and bytes per notification',
  async run(bench) {
    const loader = bench.using(new Loader('anywhere'))
    const prepared = await prepareReaders(bench, { users: inboxes, proofs: 0 })
    const small = await fill(bench, { prepared, size: 'small' })
    const large = await fill(bench, { prepared, size: 'large' })
    const all = await inTurns(bench, {
      contenders: {
        small: () => deliverToAll(bench, { loader, database: small }),
        large: () => deliverToAll(bench, { loader, database: large }),
      },
    })
    return {
      rows: [costRow(all), await storageRow(bench, loader)],
      notes: [
        `${connections} connections, one recipient each, ${asCount(2 * inboxes)} deliveries: two to each inbox, no inbox twice within ` +
          `${asCount(inboxes / 2)}. Each round starts with a new copy of the file (${asMegabytes(small.bytes)} and ${asMegabytes(large.bytes)}) ` +
          `and ${asCount(warmUps)} deliveries that are not measured. CPU: all threads of the service.`,
        `Bytes: what the file grew by ${asCount(storage.inboxes * storage.each)} deliveries to ${asCount(storage.inboxes)} inboxes in turn, in calls of ` +
          `${storage.atOnce} recipients, divided by their number; users, sessions and the like are not counted.`,
      ],
    }
  },
}

type Database = { dir: string; bytes: number; requests: string[] }

/** A copy of the database with the users, with notifications. */
async function fill(
  bench: Bench,
  { prepared, size }: { prepared: Prepared; size: keyof typeof sizes },
): Promise<Database> {
  const dir = join(bench.dir, size)
  mkdirSync(dir)
  copyFileSync(databaseIn(bench.dir), databaseIn(dir))
  bench.progress(`making ${asCount(sizes[size])} notifications of ${asCount(inboxes)} users`)
  const filled = prepared.readers.slice(0, Math.min(inboxes, sizes[size]))
  const userIds = filled.map(({ userId }) => userId)
  await fillInboxes({ checkout: bench.checkout, dir }, { userIds, count: sizes[size] / filled.length })
  return { dir, bytes: statSync(databaseIn(dir)).size, requests: deliveriesOf(prepared) }
}

/** To every inbox once, in an order without neighbours: steps of a prime that does not divide the count. */
function deliveriesOf({ readers, producer }: Prepared): string[] {
  const step = 3_571
  return readers.map((_, i) => deliveryTo([readers[(i * step) % readers.length] as Reader], { producer, n: i }))
}

function deliveryTo(readers: readonly Reader[], { producer, n }: { producer: ProofLine; n: number }): string {
  const recipients = readers.map(({ username }) => ({ username }))
  return requestText('POST', '/api/notifications', {
    proof: producer,
    body: JSON.stringify({ recipients, ...contentOf(n) }),
  })
}

/** About 300 characters in the form that is stored. */
function contentOf(n: number) {
  return {
    title: `Your order ${100_000 + n} is on its way`,
    body: 'It left our warehouse this morning and should reach you within two working days.',
    url: `/orders/${100_000 + n}`,
    category: 'orders',
    data: { order: 100_000 + n, parcels: 1, carrier: 'Northern Parcels', weight: '1.2 kg' },
  }
}

/** Delivers to 1,000 inboxes in turn, and counts by how much the file has grown. */
async function storageRow(bench: Bench, loader: Loader): Promise<Row> {
  const dir = join(bench.dir, 'storage')
  mkdirSync(dir)
  const { checkout, progress } = bench
  const { readers, producer } = await prepareReaders({ checkout, dir }, { users: storage.inboxes, proofs: 0 })
  const before = statSync(databaseIn(dir)).size
  const service = await startService({ checkout, dir, role: 'anywhere' })
  progress(`delivering ${asCount(storage.inboxes * storage.each)} notifications`)
  const requests = Array.from({ length: (storage.inboxes * storage.each) / storage.atOnce }, (_, n) => {
    const start = (n * storage.atOnce) % readers.length
    return deliveryTo(readers.slice(start, start + storage.atOnce), { producer, n })
  })
  const load = { port: service.port, connections: 4, status: 201, isOnce: true, seconds: 600, warmUpSeconds: 0 }
  const { count } = await loader.measure(service.process, { ...load, requests })
  await service.stop()
  const bytes = (statSync(databaseIn(dir)).size - before) / (count * storage.atOnce)
  return {
    what: 'file bytes per notification',
    measured: `${bytes.toFixed(0)} bytes, content of ${asCount(JSON.stringify({ ...contentOf(1), createdAt }).length)}`,
    floor: '',
    ratio: '',
    target: `<= ${storage.maxBytes}`,
    met: bytes <= storage.maxBytes,
    figures: [bytes],
  }
}

async function deliverToAll(
  { checkout, dir }: Bench,
  { loader, database }: { loader: Loader; database: Database },
): Promise<Loaded> {
  const copy = mkdtempSync(join(dir, 'copy-'))
  copyFileSync(databaseIn(database.dir), databaseIn(copy))
  const service = await startService({ checkout, dir: copy, role: 'anywhere' })
  const load = { port: service.port, connections, status: 201, isOnce: true, seconds: 120, warmUpSeconds: 0 }
  await loader.measure(service.process, { ...load, requests: database.requests.slice(-warmUps) })
  const loaded = await loader.measure(service.process, {
    ...load,
    requests: [...database.requests, ...database.requests],
  })
  await service.stop()
  rmSync(copy, { recursive: true })
  return loaded
}

function costRow({ small, large }: Record<'small' | 'large', Loaded[]>): Row {
  const ratio = ratios(large.map(cpuUs), small.map(cpuUs))
  return {
    what: `CPU of a delivery, ${asCount(sizes.large)} notifications`,
    measured: `${median(large.map(cpuUs)).toFixed(0)} us (${asLoad(large)})`,
    floor: `${asCount(sizes.small)}: ${median(small.map(cpuUs)).toFixed(0)} us (${asLoad(small)})`,
    ratio: asRatio(ratio),
    target: `<= ${maxRatio}`,
    met: ratio.median <= maxRatio,
    figures: large.map(cpuUs),
  }
}

function asMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}
