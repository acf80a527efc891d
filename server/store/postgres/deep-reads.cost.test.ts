// What reads far from an end of a large inbox cost on PostgreSQL (law 4), by the rows and index entries that the server
// reports to have passed over.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { newDatabase } from '../../../tests/support/postgres.ts'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { openStore } from '../open.ts'
import { statements } from './statements.ts'

const count = 20_000
const { url, drop } = await newDatabase()
const { store } = await openStore(readDatabaseUrl(url))
const client = new pg.Client({ connectionString: url })
await client.connect()
after(async () => {
  await client.end()
  await store.close()
  await drop()
})
// Every second notification was read by itself, the later the newer.
await client.query(`
  insert into notification (user_id, seq, id, version, content, read_at, changed_version)
    select 'ann', n, 'id' || n, n, '"title":"x"', case when n % 2 = 0 then '2026-01-01T00:00:00.000Z' end,
      case when n % 2 = 0 then ${count} + n / 2 end
    from generate_series(1, ${count}) n;
  insert into inbox values ('ann', ${count * 1.5}, 1, ${count}, ${count}, ${count / 2}, 0);
  analyze`)
// It reports each statement that was run, with what came of every step, as a notice to this client.
await client.query(`
  load 'auto_explain';
  set auto_explain.log_min_duration = 0;
  set auto_explain.log_analyze = on;
  set auto_explain.log_format = json;
  set auto_explain.log_level = notice;
  set plan_cache_mode = force_generic_plan`)

type Step = { 'Actual Rows': number; 'Actual Loops': number; 'Rows Removed by Filter'?: number; Plans?: Step[] }
let passed = 0
client.on('notice', ({ message = '' }) => {
  const start = message.indexOf('{')
  if (start >= 0) passed += rowsOf(JSON.parse(message.slice(start)).Plan)
})

function rowsOf(step: Step): number {
  const own = (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops']
  return own + (step.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), 0)
}

async function rowsPassed(name: keyof typeof statements, values: (string | number)[]): Promise<number> {
  passed = 0
  await client.query({ name, text: statements[name], values })
  assert.ok(passed > 0, 'no plan was reported')
  return passed
}

test('a deep page of the unread passes over less than two blocks', async () => {
  const page = { userId: 'ann', limit: 20, page: 250, unreadOnly: true }
  const found = await store.readPage(page)
  const [{ id }] = JSON.parse(found === 'unchanged' ? '[]' : found.items)
  // The 4,981st unread one from the newest.
  assert.equal(id, `id${count - 1 - 4_980 * 2}`)
  assert.ok((await rowsPassed('unreadPage', ['ann', 20, 4_980])) < 100)
  assert.ok((await rowsPassed('unreadFrom', ['ann', 20, 10_040, 255])) < 1_000)
})

test('changes from 9,990 versions back pass over as many rows as those from 300 back', async () => {
  const since = (behind: number) => rowsPassed('changes', ['ann', count * 1.5 - behind, 101, 10_000])
  const [near, far] = [await since(300), await since(9_990)]
  assert.ok(far < 2 * near, JSON.stringify({ near, far }))
})
