// Deep pages of unread notifications, of more inboxes at the same time than the cache of counts has room for.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { PageBlocksCache } from '../../page-blocks.ts'
import { Reader } from '../connection.ts'
import { connect } from '../database.ts'
import { openSqliteStore } from '../store.ts'
import { newFolder } from '../testing/folder.ts'
import { unreadInBlock } from './deep-pages.ts'
import { readPage } from './inbox.ts'

const count = 10_000
const users = ['ann', 'ben', 'cid', 'dan', 'eve', 'fay']

test('deep pages of more inboxes than the cache holds, read at the same time, are all returned and correct', async (t) => {
  const file = join(await newFolder(t), 'carillon.db')
  await (await openSqliteStore(file)).store.close()
  const database = connect(file)
  for (const [index, user] of users.entries()) {
    const number = index + 1
    database.exec(`
      insert into user (number, id, created_at) values (${number}, '${user}', 0);
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      insert into notification (user_number, seq, id, version, content, created_at, read_at, changed_version)
        select ${number}, n, 'id' || n, n, 'x"', '2026-01-01T00:00:00.000Z', iif(n % 2 = 0, '2026-01-01T00:00:00.000Z', null),
          iif(n % 2 = 0, ${count} + n / 2, null)
        from numbers;
      insert into inbox (user_number, category, total, unread, version, first_seq, last_seq, read_through, read_version, marked_unread, reset_version)
        values (${number}, '', ${count}, ${count / 2}, ${count * 1.5}, 1, ${count}, 0, 0, 0, 0)`)
  }
  let counted = 0
  const reader = new Reader(database)
  const one = reader.one.bind(reader)
  reader.one = (sql, ...values) => {
    if (sql === unreadInBlock) assert.ok(counted++ < 10_000, 'it counts for ever')
    return one(sql, ...values)
  }
  reader.pageBlocks = new PageBlocksCache(45)
  const pages = await Promise.all(
    users.map((userId) => readPage(reader, { userId, limit: 20, status: 'unread', page: 200 })),
  )
  for (const page of pages)
    assert.ok(page !== 'unchanged' && page.items.includes('"id":"id2019"'), JSON.stringify(page))
  reader.close()
})
