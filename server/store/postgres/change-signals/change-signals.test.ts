// ChangeSignals between processes where the database is not theirs alone, or stands behind something that passes no notices.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TcpProxy } from '../../../../tests/support/network/tcp-proxy.ts'
import { newDatabase, queryAt } from '../../../../tests/support/postgres.ts'
import { isUnavailable, World } from '../../contract/world.ts'
import type { ChangeSignal } from '../../store.ts'
import { openPostgresStore } from '../store.ts'

const { url, drop } = await newDatabase()
after(drop)
/** Noticed after four seconds at most; then a try that hears nothing either takes two, and the next hears. */
const noticedAndBackWithinMs = 60_000
const open = async (through = url) => (await openPostgresStore(through, { partitions: 3 })).store

test('a notice of somebody else ends no process: it says that anything may have changed', async () => {
  const store = await open()
  const rings: ChangeSignal[] = []
  store.onChange((ring) => rings.push(ring))
  const strange = ['hello', '', 'null', '[]', '7', '{"users":5}', '{"users":"ann"}', '{']
  for (const payload of strange) await queryAt(url, `select pg_notify('carillon', '${payload}')`)
  await until(() => rings.filter(({ about }) => about === 'anything').length >= 5)
  assert.equal((await store.readInbox('')).version, 0)
  await store.close()
})

test('T7: an address behind which no notice is heard is refused at the start, and noticed later on', async (t) => {
  const [, port = ''] = /:(\d+)\//.exec(url.slice('postgres://'.length)) ?? []
  await using proxy = await TcpProxy.to(Number(port))
  const deaf = ({ direction, bytes }: { direction: string; bytes: Buffer }) =>
    direction === 'to client' ? { pass: withoutNotices(bytes) } : undefined
  proxy.intercept = deaf
  await assert.rejects(open(proxy.urlFor(url)), (error) => isUnavailable(error) && /not a pooler/.test(error.message))

  proxy.intercept = undefined
  const store = await open(proxy.urlFor(url))
  let anything = 0
  store.onChange(({ about }) => about === 'anything' && anything++)
  const connections = new Set<unknown>()
  const deafAt = performance.now()
  proxy.intercept = (passing) => {
    connections.add(passing.notes)
    return deaf(passing)
  }
  // It has noticed when it tries another connection.
  await until(() => connections.size > 1)
  proxy.intercept = undefined
  await until(() => anything > 0)
  const afterMs = performance.now() - deafAt
  t.diagnostic(`noticed and back after ${afterMs.toFixed(0)} ms`)
  assert.ok(afterMs < noticedAndBackWithinMs, `${afterMs} ms`)
  await store.close()
})

test('R7: a store is let go of at once, though the server has fallen silent', async () => {
  const [, port = ''] = /:(\d+)\//.exec(url.slice('postgres://'.length)) ?? []
  await using proxy = await TcpProxy.to(Number(port))
  const store = await open(proxy.urlFor(url))
  proxy.swallows = 'both'
  const begun = performance.now()
  await store.close()
  assert.ok(performance.now() - begun < 30_000)
})

test('S7: every process goes by the clock of the server', async () => {
  const store = await open()
  const clock = () => store.clock?.() ?? assert.fail()
  const before = clock()
  const { rows } = await queryAt(url, 'select extract(epoch from clock_timestamp())::float8 * 1000 as time')
  assert.ok(rows[0].time > before - 1_000 && rows[0].time < clock() + 1_000)
  await store.close()
})

test('the laws hold whatever isolation the database would give by itself, and whatever the URL says of limits', async () => {
  const strict = await newDatabase()
  const name = new URL(strict.url).pathname.slice(1)
  await queryAt(strict.url, `alter database ${name} set default_transaction_isolation = 'repeatable read'`)
  const store = await open(`${strict.url}?statement_timeout=0&options=-c%20work_mem%3D5MB`)
  const world = await World.on(store)
  const ann = await world.addUser('ann')
  await Promise.all(Array.from({ length: 100 }, () => world.send(ann)))
  assert.equal((await world.inboxOf(ann)).inbox.unread, 100)
  await store.close()
  await strict.drop()
})

test('Z8: a database that takes no writes is not ready', async () => {
  const frozen = await newDatabase()
  const store = await open(frozen.url)
  await store.check()
  const name = new URL(frozen.url).pathname.slice(1)
  await queryAt(frozen.url, `alter database ${name} set default_transaction_read_only = on`)
  await queryAt(
    frozen.url,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
  )
  await until(async () => (await store.check().catch(isUnavailable)) === true)
  await store.close()
  await frozen.drop()
})

test('a database that keeps text in another encoding is refused by name', async () => {
  const name = `latin_${process.pid}`
  await queryAt(url, `create database ${name} encoding 'LATIN1' locale 'C' template template0`)
  const latin = Object.assign(new URL(url), { pathname: `/${name}` }).href
  await assert.rejects(open(latin), (error) => isUnavailable(error) && /LATIN1.*createdb -E UTF8/.test(error.message))
  await queryAt(url, `drop database ${name} with (force)`)
})

/** Without the messages of type A, NotificationResponse (PostgreSQL manual, section 53.7). */
function withoutNotices(bytes: Buffer): Buffer {
  const kept: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + (bytes.length - at < 5 ? bytes.length : bytes.readUInt32BE(at + 1))
    if (bytes[at] !== 'A'.charCodeAt(0)) kept.push(bytes.subarray(at, end))
    at = end
  }
  return Buffer.concat(kept)
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  while (!(await holds())) {
    assert.ok(performance.now() < giveUpAt, 'it did not come to hold')
    await sleep(10)
  }
}
