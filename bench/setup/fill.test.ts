// Compares filled inboxes with what the service says about them.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from '../../server/store/store.ts'
import { newDatabase } from '../../tests/support/postgres.ts'
import { modulesOf, thisCheckout } from './checkout.ts'
import { type Filling, fillDatabase } from './fill.ts'
import { prepareReadersAt, urlIn } from './inboxes.ts'

const fillings: Readonly<Record<string, Omit<Filling, 'userIds'>>> = {
  unread: { count: 50 },
  'read up to one': { count: 50, readThrough: 20 },
  'every second one marked as read': { count: 50, everySecond: 'read' },
  'every second one sent again': { count: 50, everySecond: 'missing' },
}

for (const engine of ['sqlite', 'postgres'] as const)
  test(`filled inboxes have the notifications that their counts say, on ${engine}`, async () => {
    const { url, remove } = await emptyDatabase(engine)
    try {
      const { readers } = await prepareReadersAt(thisCheckout, url, { users: Object.keys(fillings).length, proofs: 0 })
      for (const [i, filling] of Object.values(fillings).entries())
        await fillDatabase(thisCheckout, url, { ...filling, userIds: [readers[i]?.userId as string] })
      const { openStore, readDatabaseUrl } = await modulesOf(thisCheckout)
      const { store } = await openStore(readDatabaseUrl(url))
      const counted: object[] = []
      for (const { userId } of readers) {
        const { inbox, categories } = await store.readCounts(userId)
        const page = await store.readPage({ userId, page: 1, limit: 100, status: 'all' })
        assert.notEqual(page, 'unchanged')
        const items: { category: string; read: boolean }[] = JSON.parse((page as Page).items)
        const found = countsOf(items)
        assert.deepEqual({ total: inbox.total, unread: inbox.unread }, found)
        for (const [category, counts] of Object.entries(categories))
          assert.deepEqual({ ...counts }, countsOf(items.filter((item) => item.category === category)), category)
        counted.push(found)
      }
      assert.deepEqual(counted, [
        { total: 50, unread: 50 },
        { total: 50, unread: 30 },
        { total: 50, unread: 25 },
        { total: 25, unread: 25 },
      ])
      await store.close()
    } finally {
      await remove()
    }
  })

function countsOf(items: readonly { read: boolean }[]): { total: number; unread: number } {
  return { total: items.length, unread: items.filter(({ read }) => !read).length }
}

async function emptyDatabase(engine: 'sqlite' | 'postgres'): Promise<{ url: string; remove(): unknown }> {
  if (engine === 'postgres') {
    const { url, drop } = await newDatabase()
    return { url, remove: drop }
  }
  const dir = mkdtempSync(join(tmpdir(), 'carillon-bench-'))
  return { url: urlIn(dir), remove: () => rmSync(dir, { recursive: true }) }
}
