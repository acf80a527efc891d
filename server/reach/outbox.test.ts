// What one process does with the rows that it has claimed.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { unavailable } from '../basics/errors.ts'
import { newId } from '../contract/world.ts'
import { newFolder } from '../store/sqlite/testing/folder.ts'
import { openWorld } from '../store/sqlite/testing/open-world.ts'
import type { Store } from '../store/store.ts'
import { listOutbox, removeFromOutbox } from './outbox.store.ts'
import { Outbox } from './outbox.ts'

test('a row whose outcome could not be stored is sent again by the same process', async (t) => {
  await using opened = await openWorld(t, join(await newFolder(t), 'carillon.db'))
  const { store } = opened.world
  let refusals = 1
  const write: Store['write'] = async (operation, ...input) => {
    if (Object.is(operation, removeFromOutbox) && refusals-- > 0) throw unavailable('No writes now')
    return store.write(operation, ...input)
  }
  const refusing = { read: store.read.bind(store), write, holder: () => store.holder() }
  const lines: unknown[] = []
  const log = { warn: (line: unknown) => lines.push(line) }
  const needs = { store: refusing as Store, log: log as never, now: Date.now, random: Math.random }
  const outbox = new Outbox({ ...needs, channel: 'mail' })
  const twice = Promise.withResolvers<void>()
  let sent = 0
  outbox.register('test', {
    deliver: async () => {
      if (++sent === 2) twice.resolve()
    },
  })
  const row = { kind: 'test', ownerId: newId(), target: 'a@example.org', ids: '[]' }
  await outbox.add({ ...row, dueAt: Date.now(), at: Date.now() })
  outbox.start()
  await twice.promise
  await outbox.end()
  assert.deepEqual(await store.read(listOutbox, { limit: 9 }), [])
  assert.equal(lines.length, 1)
})

test('why a try failed is stored without control characters, and not longer than 300', async (t) => {
  await using opened = await openWorld(t, join(await newFolder(t), 'carillon.db'))
  const { store } = opened.world
  const failed = Promise.withResolvers<void>()
  const log = { warn: () => failed.resolve() } as never
  const needs = { store, log, now: Date.now, random: Math.random }
  const outbox = new Outbox({ ...needs, channel: 'mail' })
  outbox.register('test', {
    deliver: async () => {
      throw new Error(`450 \u0000\u001b[2J${'busy '.repeat(100)}`)
    },
  })
  const row = { kind: 'test', ownerId: newId(), target: 'a@example.org', ids: '[]' }
  await outbox.add({ ...row, dueAt: Date.now(), at: Date.now() })
  outbox.start()
  await failed.promise
  await outbox.end()
  const [{ reason } = { reason: null }] = await store.read(listOutbox, { limit: 9 })
  assert.match(reason ?? '', /^450 \ufffd\ufffd\[2Jbusy /)
  assert.equal(reason?.length, 300)
})
