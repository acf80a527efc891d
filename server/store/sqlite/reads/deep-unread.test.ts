// Deep pages of the unread of more inboxes at once than the cache of counts has room for.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { UnreadBlocksCache } from '../../unread-blocks.ts'
import { connect } from '../database.ts'
import { openSqliteStore } from '../sqlite-store.ts'
import { newFolder } from '../testing/folder.ts'
import { DeepUnread } from './deep-unread.ts'
import { Reads } from './reads.ts'

const count = 10_000
const users = ['ann', 'ben', 'cid', 'dan', 'eve', 'fay']

test('deep pages of more inboxes at once than the cache holds all come to an end, and are right', async (t) => {
  const file = join(await newFolder(t), 'carillon.db')
  await (await openSqliteStore(file)).store.close()
  const database = connect(file)
  for (const user of users)
    database.exec(`
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      insert into notification (user_id, seq, id, version, content, read_at, changed_version)
        select '${user}', n, 'id' || n, n, '"title":"x"', iif(n % 2 = 0, '2026-01-01T00:00:00.000Z', null),
          iif(n % 2 = 0, ${count} + n / 2, null)
        from numbers;
      insert into inbox values ('${user}', ${count * 1.5}, 1, ${count}, ${count}, ${count / 2}, 0)`)
  let counted = 0
  const reads = new Reads(database)
  const unreadInBlock = reads.unreadInBlock.bind(reads)
  reads.unreadInBlock = (userId, block) => {
    assert.ok(counted++ < 10_000, 'it counts for ever')
    return unreadInBlock(userId, block)
  }
  const deep = new DeepUnread(reads, new UnreadBlocksCache(45))
  const pages = await Promise.all(users.map((userId) => deep.page({ userId, limit: 20, unreadOnly: true, page: 200 })))
  for (const page of pages)
    assert.ok(page !== 'unchanged' && page.items.includes('"id":"id2019"'), JSON.stringify(page))
  reads.close()
})
