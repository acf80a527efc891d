// Other programs may use the database too, and a proxy may drop notices.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { TcpProxy } from '../../../../tests/support/network/tcp-proxy.ts'
import { newDatabase, queryAt } from '../../../../tests/support/postgres.ts'
import { untilSo } from '../../../../tests/support/processes/nodes.ts'
import { isUnavailable, World } from '../../../contract/world.ts'
import { readInbox } from '../../../inbox/inbox.store.ts'
import type { ChangeSignal } from '../../events.ts'
import { openPostgresStore } from '../store.ts'

const { url, drop } = await newDatabase()
after(drop)
/** On an idle machine 4 s, and 2 s for another connection without notices. */
const noticedAndBackWithinMs = 60_000
const open = async (through = url) => (await openPostgresStore(through, { partitions: 3 })).store

test('an unknown notice of another program does no harm: it counts as "anything may have changed"', async () => {
  const store = await open()
  const signals: ChangeSignal[] = []
  store.onChange((signal) => signals.push(signal))
  const strange = ['hello', '', 'null', '[]', '7', '{"users":5}', '{"users":"ann"}', '{']
  for (const payload of strange) await queryAt(url, `select pg_notify('carillon', '${payload}')`)
  await untilSo(async () => signals.filter(({ about }) => about === 'anything').length >= 5)
  assert.equal((await store.read(readInbox, '')).version, 0)
  await store.close()
})

test('an address that passes no notices is refused at the start, and noticed if it stops passing them later (T7)', async (t) => {
  const [, port = ''] = /:(\d+)\//.exec(url.slice('postgres://'.length)) ?? []
  await using proxy = await TcpProxy.to(Number(port))
  const deaf = ({ direction, bytes }: { direction: string; bytes: Buffer }) =>
    direction === 'to client' ? { pass: withoutNotices(bytes) } : undefined
  proxy.intercept = deaf
  await assert.rejects(
    open(proxy.urlFor(url)),
    (error) => isUnavailable(error) && /not a pooler/.test(error.message),
  )

  proxy.intercept = undefined
  const store = await open(proxy.urlFor(url))
  const back: ChangeSignal[] = []
  store.onChange((signal) => signal.about === 'anything' && back.push(signal))
  const connections = new Set<unknown>()
  const deafAt = performance.now()
  proxy.intercept = (passing) => {
    connections.add(passing.notes)
    return deaf(passing)
  }
  // A second connection shows that the store has noticed.
  await untilSo(async () => connections.size > 1)
  proxy.intercept = undefined
  await untilSo(async () => back.length > 0)
  const afterMs = performance.now() - deafAt
  t.diagnostic(`noticed and back after ${afterMs.toFixed(0)} ms`)
  assert.ok(afterMs < noticedAndBackWithinMs, `${afterMs} ms`)
  const awayMs = back[0]?.about === 'anything' ? (back[0].awayMs ?? 0) : 0
  assert.ok(awayMs > 0 && awayMs <= afterMs, `${awayMs} ms`)
  await store.close()
})

test('a store closes at once even if the server no longer responds (R7)', async () => {
  const [, port = ''] = /:(\d+)\//.exec(url.slice('postgres://'.length)) ?? []
  await using proxy = await TcpProxy.to(Number(port))
  const store = await open(proxy.urlFor(url))
  proxy.drops = 'both'
  const begun = performance.now()
  await store.close()
  assert.ok(performance.now() - begun < 30_000)
})

test('every process uses the clock of the server (S7)', async () => {
  const store = await open()
  const clock = () => store.clock?.() ?? assert.fail()
  const before = clock()
  const { rows } = await queryAt(
    url,
    'select extract(epoch from clock_timestamp())::float8 * 1000 as time',
  )
  assert.ok(rows[0].time > before - 1_000 && rows[0].time < clock() + 1_000)
  await store.close()
})

test('concurrent deliveries are all counted, whatever default isolation the database has and whatever timeouts the URL sets', async () => {
  const strict = await newDatabase()
  const name = new URL(strict.url).pathname.slice(1)
  await queryAt(
    strict.url,
    `alter database ${name} set default_transaction_isolation = 'repeatable read'`,
  )
  const store = await open(`${strict.url}?statement_timeout=0&options=-c%20work_mem%3D5MB`)
  const world = await World.on(store)
  const ann = await world.addUser('ann')
  await Promise.all(Array.from({ length: 100 }, () => world.send(ann)))
  assert.equal((await world.inboxOf(ann)).inbox.unread, 100)
  await store.close()
  await strict.drop()
})

test('a read-only database is not ready (Z8)', async () => {
  const frozen = await newDatabase()
  const store = await open(frozen.url)
  await store.check()
  const name = new URL(frozen.url).pathname.slice(1)
  await queryAt(frozen.url, `alter database ${name} set default_transaction_read_only = on`)
  await queryAt(
    frozen.url,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
  )
  await untilSo(async () => (await store.check().catch(isUnavailable)) === true)
  await store.close()
  await frozen.drop()
})

test('a database with another encoding is refused, and the encoding is named', async () => {
  const name = `latin_${process.pid}`
  await queryAt(url, `create database ${name} encoding 'LATIN1' locale 'C' template template0`)
  const latin = Object.assign(new URL(url), { pathname: `/${name}` }).href
  await assert.rejects(
    open(latin),
    (error) => isUnavailable(error) && /LATIN1.*createdb -E UTF8/.test(error.message),
  )
  await queryAt(url, `drop database ${name} with (force)`)
})

/** Drops messages of type A, NotificationResponse (PostgreSQL manual, section 53.7). */
function withoutNotices(bytes: Buffer): Buffer {
  const kept: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + (bytes.length - at < 5 ? bytes.length : bytes.readUInt32BE(at + 1))
    if (bytes[at] !== 'A'.charCodeAt(0)) kept.push(bytes.subarray(at, end))
    at = end
  }
  return Buffer.concat(kept)
}
