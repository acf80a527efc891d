// How PostgreSQL reaches the rows of each statement, those inside of functions included: by an index, in one partition of
// what belongs to users, whatever the tables hold. As in service: with plans that were made without knowing the values.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { newDatabase } from '../../../tests/support/postgres.ts'
import { openPool } from './connection/connection.ts'
import { migrate } from './schema/migrate.ts'
import { statements } from './statements.ts'

type Value = string | number | null | (string | null)[]
/** What it is called with, and the tables that are read then: how, and (in brackets) by what of an index. */
type Path = { of: keyof typeof statements; with?: Value[]; reads: string[]; partitions?: number }

const at = '2026-01-01T00:00:00.000Z'
const user = 'user by key (id)'
const userByName = 'user by user_username_key (username)'
const session = 'session by key (user_id, secret_hash)'
const producer = 'producer by key (id)'
const delivery = 'delivery by key (producer_id, idempotency_key)'
const inbox = 'inbox by key (user_id)'
const box = [inbox, 'inbox by key (user_id) alone']
const notification = 'notification by key (user_id, seq)'
const byId = 'notification by notification_by_id (user_id, id)'
const unread = 'notification by notification_unread (user_id, seq)'
const changed = 'notification by notification_changed (user_id, changed_version)'
const readMark = 'read_mark by read_mark_by_seq (user_id, through_seq) alone'
const category = 'inbox_category by key (user_id, category)'
// A user has few sessions and few categories, side by side in the index.
const allCategories = 'many inbox_category by key (user_id)'
const allSessions = 'many session by key (user_id)'
const revocation = 'token_cutoff by key (user_id, sign_in_id)'
const expired = ['token_cutoff by its place', 'token_cutoff by token_cutoff_by_expiry (expires_at)']
const recipients = ['sorted', userByName, 'user by key (id) alone']

const paths: Path[] = [
  { of: 'user', with: ['u1'], reads: [user] },
  { of: 'credentials', with: ['name1'], reads: [userByName] },
  { of: 'users', with: ['name1', 50], reads: [userByName] },
  { of: 'addUser', with: ['new', 'new name', null, 'hash', 1], reads: [] },
  { of: 'disableUser', with: ['u1', 1, 2], reads: [user, allSessions, revocation, ...expired] },
  { of: 'setPassword', with: ['u1', 'hash', 1, 2], reads: [user, allSessions, revocation, ...expired] },
  { of: 'addSession', with: ['u1', 'new', 'hash', 1, ['u1'], ['h1']], reads: [user, session] },
  { of: 'session', with: ['u1', 'h1'], reads: [session, inbox] },
  { of: 'touchSession', with: ['u1', 'h1', 1], reads: [session] },
  { of: 'endSessions', with: [['u1'], ['h1']], reads: [session] },
  // Once an hour.
  { of: 'removeStaleSessions', with: [1, 1, 1e13, 1_000], reads: ['whole session'], partitions: 4 },
  { of: 'revokeTokens', with: ['u1', '', 1, 2], reads: expired },
  { of: 'tokenRevocations', with: [4_990], reads: ['token_cutoff by token_cutoff_by_expiry (expires_at)'] },
  // Once at the start: a handful of keys.
  { of: 'ensureSigningKey', with: ['kid', 'public', 'sealed', 1], reads: ['whole signing_key'] },
  { of: 'signingKeys', reads: ['sorted', 'whole signing_key'] },
  { of: 'addProducer', with: ['new', 'n', 'h', 'send', 1, null], reads: [] },
  { of: 'producer', with: ['p1'], reads: [producer] },
  // For a person at the command line.
  { of: 'producers', reads: ['sorted', 'whole producer'] },
  { of: 'revokeProducer', with: ['p1', 1], reads: [producer] },
  { of: 'touchProducer', with: ['p1', 1], reads: [producer] },
  { of: 'isReadOnly', reads: [] },
  { of: 'inbox', with: ['u1'], reads: [inbox] },
  { of: 'page', with: ['u1', 20, 40], reads: ['sorted', ...box, notification, readMark] },
  { of: 'before', with: ['u1', 20, 100], reads: [...box, notification, readMark] },
  { of: 'unreadPage', with: ['u1', 20, 40], reads: ['sorted', ...box, `${unread} alone`, notification, readMark] },
  { of: 'unreadFrom', with: ['u1', 20, 100, 9], reads: ['sorted', ...box, `${unread} alone`, notification, readMark] },
  { of: 'changedSeqs', with: ['u1', 100, 50], reads: [...box, changed] },
  { of: 'unreadInBlocks', with: ['u1', '{0,1}'], reads: [`${unread} alone`] },
  { of: 'unreadBefore', with: ['u1', 20, 100], reads: [...box, unread, `${unread} alone`, readMark] },
  { of: 'sessionPage', with: ['u1', 20, 40, 'h1'], reads: ['sorted', ...box, session, notification, readMark] },
  { of: 'sessionBefore', with: ['u1', 20, 100, 'h1'], reads: [...box, session, notification, readMark] },
  {
    of: 'sessionUnreadPage',
    with: ['u1', 20, 40, 'h1'],
    reads: ['sorted', ...box, session, `${unread} alone`, notification, readMark],
  },
  {
    of: 'sessionUnreadBefore',
    with: ['u1', 20, 100, 'h1'],
    reads: [...box, session, unread, `${unread} alone`, readMark],
  },
  { of: 'notification', with: ['u1', 'id1-9'], reads: [byId, readMark] },
  { of: 'counts', with: ['u1'], reads: ['sorted', ...box, allCategories] },
  {
    of: 'changes',
    with: ['u1', 100, 50, 10_000],
    reads: [...box, notification, changed, 'read_mark by key (user_id, version)', readMark],
  },
  { of: 'markRead', with: ['u1', 'id1-190', at], reads: [inbox, byId, notification, category] },
  { of: 'markAllRead', with: ['u1', null, at], reads: [inbox, `${unread} alone`, allCategories] },
  { of: 'markAllRead', with: ['u1', 'id1-150', at], reads: [inbox, byId, `${unread} alone`, allCategories, category] },
  {
    of: 'deliver',
    with: ['d', 'p1', 'new', 'h', ['name1'], [null], ['new'], '"title":"x"', 'c1', null, 1],
    reads: [...recipients, delivery],
  },
  {
    of: 'deliver',
    with: ['d', 'p1', 'k1', 'h', ['name1'], [null], ['new'], '"title":"x"', 'c1', null, 1],
    reads: [delivery],
  },
  {
    of: 'deliver',
    with: ['d', 'p1', null, null, ['name1'], [null], ['new'], '"title":"x"', 'c1', 'k10', 1],
    reads: [
      ...recipients,
      inbox,
      'inbox_category by key (user_id, category)',
      'notification by notification_by_key (user_id, key)',
      notification,
    ],
  },
  {
    of: 'removeOldDeliveries',
    with: [3, 1_000],
    reads: ['delivery by delivery_by_time (at)', 'delivery by its place'],
  },
]

const { url, drop } = await newDatabase({ isBare: true })
const pool = openPool(url)
await migrate(pool, { partitions: 4 })
await pool.end()
const client = new pg.Client({ connectionString: url, options: '-c plan_cache_mode=force_generic_plan -c jit=off' })
await client.connect()
after(async () => {
  await client.end()
  await drop()
})

// 5,000 people with a session, of whom 400 have been told much; enough of the rest that nobody would read a table whole.
await client.query(`
  insert into "user" (id, username, password_hash, created_at)
    select 'u' || n, 'name' || n, 'hash', n from generate_series(1, 20000) n;
  insert into session select 'u' || n % 5000, 'h' || n, 'name', n, n from generate_series(1, 20000) n;
  insert into inbox select 'u' || n, 200, 1, 200, 200, 150, 40 from generate_series(1, 400) n;
  insert into inbox select 'u' || n, 1, 1, 0, 0, 0, 0 from generate_series(401, 8000) n;
  insert into inbox_category select 'u' || n % 2000, 'c' || n / 2000, 9, 9 from generate_series(0, 19999) n;
  insert into notification
    select 'u' || u, s, 'id' || u || '-' || s, s, '"title":"x"', 'c1', case when s % 10 = 0 then 'k' || s end,
      case when s % 20 = 0 then '${at}' end
    from generate_series(1, 400) u, generate_series(1, 200) s;
  insert into read_mark select 'u' || u, s, s, '${at}' from generate_series(1, 1000) u, generate_series(1, 20) s;
  insert into delivery select 'p1', 'k' || n, 'h', '{}', n from generate_series(1, 20000) n;
  insert into producer (id, name, secret_hash, scopes, created_at)
    select 'p' || n, 'n', 'h', 'send', n from generate_series(1, 20000) n;
  insert into token_cutoff select 'u' || n, '', n, n, 0 from generate_series(1, 5000) n`)
await client.query('vacuum analyze')

/** The partitioned table or index that each part belongs to. */
const wholes = new Map(
  (
    await client.query(`
      select part.relname as part, whole.relname as whole from pg_inherits
      join pg_class part on part.oid = inhrelid join pg_class whole on whole.oid = inhparent`)
  ).rows.map(({ part, whole }) => [part as string, whole as string]),
)

/** The table of each index. */
const tables = new Map(
  (await client.query('select indexname, tablename from pg_indexes')).rows.map(({ indexname, tablename }) => [
    indexname as string,
    wholes.get(tablename) ?? (tablename as string),
  ]),
)

// It tells the plan of each statement that was run, with what was done of it, as a notice to this client.
await client.query(`
  load 'auto_explain';
  set auto_explain.log_min_duration = 0;
  set auto_explain.log_nested_statements = on;
  set auto_explain.log_analyze = on;
  set auto_explain.log_timing = off;
  set auto_explain.log_format = json;
  set auto_explain.log_level = notice`)

type Step = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Actual Loops': number
  Plans?: Step[]
}

let told: Step[] = []
client.on('notice', ({ message = '' }) => {
  const start = message.indexOf('{')
  if (start >= 0) told.push(JSON.parse(message.slice(start)).Plan)
})

test('no statement is left out', () => {
  assert.deepEqual([...new Set(paths.map(({ of }) => of))].sort(), Object.keys(statements).sort())
})

for (const { of: name, with: values = [], reads, partitions = 1 } of paths)
  test(`${name} reads ${reads.join(', ') || 'no table'}`, async () => {
    told = []
    await client.query('begin')
    await client.query({ name, text: statements[name], values })
    await client.query('rollback')
    const steps = told.flatMap(stepsOf)
    assert.ok(told.length > 0, 'no plan was told')
    assert.deepEqual([...new Set(steps.flatMap((step) => inWords(step) ?? []))].sort(), reads.toSorted())
    const touched = steps.filter((step) => step['Actual Loops'] > 0 && wholes.has(step['Relation Name'] ?? ''))
    const numbers = new Set(touched.map((step) => step['Relation Name']?.replace(/.*_/, '')))
    assert.ok(numbers.size <= partitions, `${numbers.size} partitions are touched`)
  })

function stepsOf(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)]
}

/** A step of a plan, or undefined for one that reads no table. In brackets: what of the index narrows what is read. */
function inWords(step: Step): string | undefined {
  const kind = step['Node Type']
  const part = step['Relation Name'] ?? ''
  const table = wholes.get(part) ?? part
  const index = step['Index Name'] ?? ''
  const bounds = Array.from((step['Index Cond'] ?? '').matchAll(/\((\w+) (?:[<>=]+|IS) /g), ([, column]) => column)
  const key = `${(wholes.get(index) ?? index).replace(/.*_pkey$/, 'key')} (${[...new Set(bounds)].join(', ')})`
  if (kind === 'Index Scan') return `${table} by ${key}`
  if (kind === 'Index Only Scan') return `${table} by ${key} alone`
  if (kind === 'Bitmap Index Scan') return `many ${tables.get(index)} by ${key}`
  if (kind === 'Tid Scan') return `${table} by its place`
  if (kind === 'Seq Scan') return `whole ${table}`
  return /Sort$/.test(kind) ? 'sorted' : undefined
}

test('without a session of that secret no notification is read', async () => {
  for (const name of ['sessionPage', 'sessionBefore', 'sessionUnreadPage', 'sessionUnreadBefore'] as const) {
    told = []
    await client.query({ name, text: statements[name], values: ['u1', 20, 100, 'made up'] })
    const read = told.flatMap(stepsOf).filter((step) => step['Actual Loops'] > 0)
    const words = read.flatMap((step) => inWords(step) ?? [])
    assert.deepEqual([...new Set(words)].sort(), [...box, session].sort(), `${name}: the session and the inbox at most`)
  }
})
