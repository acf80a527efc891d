// Fills inboxes with as many rows as hours of deliveries would leave. The rows are those of a transfer (backup, restore, move),
// which every schema and both engines accept.
import pg from 'pg'
import type { Row, Table, Value } from '../../server/store/transfer/endpoint/tables.ts'
import { type Checkout, type Modules, modulesOf } from './checkout.ts'

export type Filling = {
  userIds: readonly string[]
  /** Notifications of each user. */
  count: number
  /** A read-all covered all up to this sequence number. */
  readThrough?: number
  /** What happened to every second notification: it was marked read one by one, or it was sent again and has left its place. */
  everySecond?: 'read' | 'missing'
}
type Inbox = Required<Omit<Filling, 'userIds' | 'everySecond'>> & Pick<Filling, 'everySecond'>
type Columns = Readonly<Record<string, Value>>

const rowsAtOnce = 1_000
const fillingId = 'bench'
const categories = ['orders', 'payments', 'deliveries', 'messages', 'account'] as const
const markedAt = '2026-01-01T00:00:00.000Z'

/** The users must exist, with empty inboxes. */
export async function fillDatabase(checkout: Checkout, url: string, filling: Filling): Promise<void> {
  const modules = await modulesOf(checkout)
  const endpoint = await modules.openEndpoint(modules.readDatabaseUrl(url))
  try {
    await endpoint.beginFilling(fillingId)
    let before: ReturnType<Modules['placeAfter']> | null = null
    for (const batch of batchesOf(modules, filling)) {
      const after = modules.placeAfter(before, batch)
      if (!(await endpoint.add(batch, { id: fillingId, before, after }))) throw new Error('the database is in use')
      before = after
    }
    await endpoint.endFilling()
  } finally {
    await endpoint.close()
  }
  if (url.startsWith('postgres')) await settle(url)
}

/** As autovacuum would leave it after hours. */
async function settle(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query('vacuum analyze')
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
}

function* batchesOf({ tables, newId }: Modules, { userIds, ...filling }: Filling) {
  const inbox = { readThrough: 0, ...filling }
  const middle = Math.ceil(inbox.count / 2)
  const rowsOf: Readonly<Record<string, (() => Iterable<Columns>)[]>> = {
    inbox: [() => inboxRow(inbox)],
    inbox_category: [() => categoryRows(inbox)],
    // In two passes over all inboxes: the pages of the file are then partly filled, as deliveries to many inboxes leave them.
    notification: [
      () => notificationRows(inbox, { newId, from: 1, to: middle }),
      () => notificationRows(inbox, { newId, from: middle + 1, to: inbox.count }),
    ],
    read_mark: [() => readMarkRow(inbox)],
  }
  for (const table of tables)
    for (const pass of rowsOf[table.name] ?? []) {
      const rows = userIds.values().flatMap((userId) => rowsOfUser(table, { userId, pass }))
      for (const batch of inBatches(rows)) yield { table, rows: batch }
    }
}

function* rowsOfUser(
  table: Table,
  { userId, pass }: { userId: string; pass: () => Iterable<Columns> },
): Generator<Row> {
  for (const row of pass()) yield rowOf(table, { ...row, user_id: userId })
}

function* inBatches(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < rowsAtOnce) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function rowOf(table: Table, columns: Columns): Row {
  return Object.keys(table.columns).map((name) => columns[name] ?? zeroOf(table.name, name))
}

/** Columns that the rows below leave out: counters start at 0, and `count` at 1; all others are null. */
function zeroOf(table: string, column: string): Value {
  if (table === 'notification') return column === 'count' ? 1 : null
  return counters.has(column) ? 0 : null
}
const counters = new Set([
  'category_through',
  'marked_unread',
  'reset_version',
  'made_read',
  'before_through',
  'before_version',
])

function inboxRow({ count, readThrough, everySecond }: Inbox): Columns[] {
  const half = Math.floor(count / 2)
  const readVersion = readThrough === 0 ? 0 : readThrough + 1
  const common = { first_seq: 1, last_seq: count, total: count, read_through: readThrough, read_version: readVersion }
  if (everySecond === 'read') return [{ ...common, version: count + half, unread: count - half }]
  if (everySecond === 'missing') return [{ ...common, version: count, first_seq: 2, total: half, unread: half }]
  return [{ ...common, version: readThrough === 0 ? count : count + 1, unread: count - readThrough }]
}

type Part = { newId: (at: number) => string; from: number; to: number }

function* notificationRows({ count, readThrough, everySecond }: Inbox, { newId, from, to }: Part): Generator<Columns> {
  const firstAt = Date.now() - count * 1_000
  for (let seq = from; seq <= to; seq++) {
    if (everySecond === 'missing' && seq % 2 === 1) continue
    const at = firstAt + seq * 1_000
    const category = categoryOf(seq)
    // The read-all has the version after that of the last notification it covers.
    const version = readThrough === 0 || seq <= readThrough ? seq : seq + 1
    const row = { seq, id: newId(at), version, content: contentOf(seq, at, category), category }
    const isMarked = everySecond === 'read' && seq % 2 === 0
    yield isMarked ? { ...row, read_at: markedAt, changed_version: count + seq / 2 } : row
  }
}

function categoryRows({ count, readThrough, everySecond }: Inbox): Columns[] {
  const seqs = Array.from({ length: count }, (_, i) => i + 1).filter(
    (seq) => everySecond !== 'missing' || seq % 2 === 0,
  )
  const isUnread = (seq: number) => seq > readThrough && (everySecond !== 'read' || seq % 2 === 1)
  return categories.toSorted().map((category) => {
    const own = seqs.filter((seq) => categoryOf(seq) === category)
    return { category, total: own.length, unread: own.filter(isUnread).length }
  })
}

function readMarkRow({ readThrough }: Inbox): Columns[] {
  return readThrough === 0 ? [] : [{ version: readThrough + 1, through_seq: readThrough, at: new Date().toISOString() }]
}

function categoryOf(seq: number): string {
  return categories[seq % categories.length] as string
}

/** About 300 bytes, in the form that a delivery stores: members in this order, without the braces. */
function contentOf(seq: number, at: number, category: string): string {
  return JSON.stringify({
    title: `Your order ${100_000 + seq} is on its way`,
    body: 'It left our warehouse this morning and should reach you within two working days.',
    url: `/orders/${100_000 + seq}`,
    category,
    data: { order: 100_000 + seq, parcels: 1 },
    key: null,
    createdAt: new Date(at).toISOString(),
  }).slice(1, -1)
}
