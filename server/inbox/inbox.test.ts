import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readDatabaseUrl } from '../config/database-url.ts'
import { World } from '../contract/world.ts'
import { openStore } from '../open-store.ts'
import { Database } from '../store/sqlite/database.ts'
import { Inbox } from './inbox.ts'

async function openWithAnn(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'carillon.db')
  const { store } = await openStore(readDatabaseUrl(`sqlite:${path}`))
  t.after(() => store.close())
  const world = await World.on(store)
  const ann = await world.addUser('ann')
  return { path, store, world, ann }
}

test('if another change has the same version after a failover, the kept page is not sent, and the ETag differs', async (t) => {
  const { path, store, world, ann } = await openWithAnn(t)
  const id = await world.send(ann, 'Lost')
  const inbox = new Inbox({ store, now: () => 0 })
  const first = () => inbox.list({ userId: ann.id }, { page: 1, limit: 5, status: 'all' })
  const before = await first()
  assert.equal(await first(), before)

  // A failover to a replica that was behind: the same version, with another notification.
  const behind = new Database(path, { timeout: 5_000 })
  const other = id.replace(/.{4}$/, 'ffff')
  behind.prepare('update notification set id = ?, title = ? where id = ?').run(other, 'Kept', id)
  behind.close()

  const giveUpAt = performance.now() + 60_000
  while ((await first()) === before) {
    assert.ok(performance.now() < giveUpAt, 'the kept page is still sent')
    await sleep(20)
  }
  const after = await first()
  assert.equal(after.version, before.version)
  const { items } = JSON.parse(String(after.json)).data as { items: { title: string }[] }
  assert.deepEqual(
    items.map(({ title }) => title),
    ['Kept'],
  )
  assert.notEqual(after.etag, before.etag)
})

test('a page is JSON also if a text is damaged in the file', async (t) => {
  const { path, store, world, ann } = await openWithAnn(t)
  const damaging = new Database(path, { timeout: 5_000 })
  for (const title of ['Grüße', 'Hi']) await world.send(ann, title)
  // 0xFF is in no UTF-8, and a surrogate takes other bytes when it is replaced.
  for (const bytes of ['ff', 'eda080', 'f09f98']) {
    damaging.exec(`update notification set title = cast(x'${bytes}' as text) where seq = 2`)
    for (const place of [{ page: 1 }, { before: 3 }]) {
      const request = { limit: 5, status: 'all' as const, ...place }
      const { json } = await new Inbox({ store, now: () => 0 }).list({ userId: ann.id }, request)
      assert.equal(JSON.parse(String(json)).data.items.length, 2)
    }
  }
  damaging.close()
})
