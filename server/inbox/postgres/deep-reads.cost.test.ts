// The cost is the number of rows and index entries that the server reports to have read.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newDatabase } from '../../../tests/support/postgres.ts'
import { ChangeSignals } from '../../store/postgres/change-signals/change-signals.ts'
import { Database } from '../../store/postgres/connection/connection.ts'
import { openPool } from '../../store/postgres/connection/pool.ts'
import { changesSince } from './changes.ts'
import { readPage } from './pages.ts'

const count = 20_000
const { url, drop } = await newDatabase()
// Each call has to be made on the connection that reports its plans.
const client = openPool(url, { timeoutMs: 60_000 })
client.options.max = 1
const db = new Database(client, new ChangeSignals(client, url))
let passed = 0
client.on('connect', (connection) =>
  connection.on('notice', ({ message = '' }) => {
    const start = message.indexOf('{')
    if (start >= 0) passed += rowsOf(JSON.parse(message.slice(start)).Plan)
  }),
)
after(async () => {
  await db.close()
  await drop()
})
// Ann read every second one alone; every second one of Ben's was sent again; few of Ann's are
// 'rare'.
await client.query(`
  insert into notification (user_id, seq, id, version, category, title, created_at, read_at, state, changed_version)
    select 'ann', n, 'id' || n, n, case when n % 200 < 2 then 'rare' else 'common' end, 'x', '2026-01-01T00:00:00.000Z', case when n % 2 = 0 then '2026-01-01T00:00:00.000Z' end,
      case when n % 2 = 0 then 'read' else 'unread' end,
      case when n % 2 = 0 then ${count} + n / 2 end
    from generate_series(1, ${count}) n;
  insert into inbox (user_id, version, first_seq, last_seq, total, unread) values ('ann', ${count * 1.5}, 1, ${count}, ${count}, ${count / 2});
  insert into inbox_category (user_id, category, total, unread)
    select user_id, category, count(*), count(*) - count(read_at) from notification group by user_id, category;
  insert into notification (user_id, seq, id, version, title, created_at)
    select 'ben', seq, id, version, title, created_at from notification where user_id = 'ann' and seq % 2 = 0;
  insert into inbox (user_id, version, first_seq, last_seq, total, unread) values ('ben', ${count}, 2, ${count}, ${count / 2}, ${count / 2});
  analyze`)
// The server reports the plan of each statement that it ran, with the rows of every step, as a notice.
await client.query(`
  load 'auto_explain';
  set auto_explain.log_min_duration = 0;
  set auto_explain.log_analyze = on;
  set auto_explain.log_format = json;
  set auto_explain.log_level = notice;
  set plan_cache_mode = force_generic_plan`)

type Step = {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Step[]
}
function rowsOf(step: Step): number {
  const own = (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops']
  return own + (step.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), 0)
}

async function rowsPassed(read: () => Promise<unknown>): Promise<number> {
  passed = 0
  await read()
  assert.ok(passed > 0, 'the server reported no plan')
  return passed
}

for (const [userId, status] of [
  ['ann', 'unread'],
  ['ben', 'all'],
] as const)
  test(`a numbered page of ${status} among gaps reads each index entry above it once or twice`, async () => {
    const page = { userId, limit: 20, page: 250, status }
    const { items } = await readPage(db, page)
    const [{ id }] = JSON.parse(items)
    // The 4,981st one from the newest.
    assert.equal(id, `id${count - (userId === 'ann' ? 1 : 0) - 4_980 * 2}`)
    // Each step of the plan counts its rows: the scan, the merges of the partitions and of the runs, and the limit.
    const rows = await rowsPassed(() => readPage(db, page))
    assert.ok(rows > 4_980 && rows < 5 * 4_980, `${rows}`)
  })

test('a numbered page without gaps reads few rows, at any depth (law 4)', async () => {
  for (const page of [1, 250, count / 20]) {
    const rows = await rowsPassed(() =>
      readPage(db, { userId: 'ann', limit: 20, page, status: 'all' }),
    )
    assert.ok(rows < 400, `page ${page}: ${rows}`)
  }
})

test('a page by cursor with any filter reads few rows, at any depth and if few notifications match', async () => {
  for (const status of ['unread', 'read', 'all'] as const)
    for (const categories of [undefined, ['rare'], ['common'], ['common', 'rare', 'none']])
      for (const before of [count, count / 2, 5_000]) {
        const request = {
          userId: 'ann',
          limit: 20,
          status,
          before,
          ...(categories && { categories }),
        }
        const rows = await rowsPassed(() => readPage(db, request))
        // Each step counts its rows. Without an index for 20 rare ones, the server would pass over
        // 2,000.
        assert.ok(rows < 1_000, JSON.stringify({ request, rows }))
      }
})

test('changes from 9,990 versions back read as many rows as those from 300 back', async () => {
  const since = (behind: number) =>
    rowsPassed(() =>
      changesSince(db, {
        userId: 'ann',
        version: count * 1.5 - behind,
        limit: 100,
        maxBehind: 10_000,
      }),
    )
  const near = await since(300)
  const far = await since(9_990)
  assert.ok(far < 2 * near, JSON.stringify({ near, far }))
})
