// The tables are so large that no plan reads all of one.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newDatabase } from '../../../tests/support/postgres.ts'
import { deliver } from '../../delivery/delivery.store.ts'
import { guessRefusals } from '../../guessing/guesses.store.ts'
import { archiveRead, markAllRead } from '../../inbox/bulk/bulk.store.ts'
import { undo } from '../../inbox/bulk/undo.store.ts'
import { changesSince, readPage } from '../../inbox/inbox.store.ts'
import type { PageRequest } from '../../inbox/inbox-state.ts'
import { markRead } from '../../inbox/marks.store.ts'
import { contentOf } from '../../inbox/notification-json.ts'
import { findDue } from '../../inbox/retention.store.ts'
import { searchUsers } from '../../operator/people.store.ts'
import { claimOutbox, dueQueues } from '../../reach/outbox.store.ts'
import { findSession } from '../../sessions/sessions.store.ts'
import { findCredentials } from '../../users/users.store.ts'
import { ChangeSignals } from './change-signals/change-signals.ts'
import { Database } from './connection/connection.ts'
import { openPool } from './connection/pool.ts'
import { migrate } from './schema/migrate.ts'
import { storeOn } from './store.ts'

/** In brackets: by which columns of an index. */
type Path = { of: string; run: () => Promise<unknown>; reads: string[] }

const at = Date.parse('2026-01-01T00:00:00.000Z')
const inbox = 'inbox by key (user_id)'
const notification = 'notification by key (user_id, seq)'
const byId = 'notification by notification_by_id (id, user_id)'
const byState = 'notification by notification_by_state (user_id, state, seq)'
const byCategory = 'notification by notification_by_category (user_id, category, state, seq) alone'
const ofCategories = 'many inbox_category by key (user_id, category)'
const category = 'inbox_category by key (user_id, category)'
const several = ['u1', 'u2', 'u3'].map((userId) => ({
  to: { userId },
  notificationId: `new ${userId}`,
}))
const page = (request: Omit<PageRequest, 'limit'>) =>
  store.read(readPage, { userId: 'u1', limit: 20, before: 100, ...request } as never)

const paths: Path[] = [
  {
    of: 'findSession',
    run: () => store.read(findSession, { userId: 'u1', familyHash: 'f1', secretHash: 'h1' }),
    reads: ['session by key (user_id, family_hash)', inbox],
  },
  {
    of: 'findCredentials',
    run: () => store.read(findCredentials, 'name1'),
    reads: ['user by user_username_key (username)'],
  },
  {
    of: 'searchUsers',
    run: () => store.read(searchUsers, 'name123'),
    reads: [
      'user by key (id)',
      'user by key (id) alone',
      'user by user_by_display_name (lower(display_name))',
      'user by user_by_email (lower(email))',
      'user by user_by_external_id (external_id)',
      'user by user_username_key (username)',
      'sorted',
    ],
  },
  {
    of: 'guessRefusals',
    run: () => store.read(guessRefusals, { limits: [{ key: 'g1', delaysMs: [0], keptMs: 9 }], at }),
    reads: ['many guess_count by key (key)'],
  },
  {
    of: 'a page of everything',
    run: () => page({ status: 'all' }),
    reads: [inbox, notification, 'sorted'],
  },
  {
    of: 'a page of the list',
    run: () => page({ status: 'inbox' }),
    reads: [inbox, notification, `${byState} alone`, 'sorted'],
  },
  {
    of: 'a page of categories',
    run: () => page({ status: 'unread', categories: ['c1', 'c2'] }),
    reads: [inbox, notification, byCategory, ofCategories, 'sorted'],
  },
  {
    of: 'changesSince',
    run: () =>
      store.read(changesSince, { userId: 'u1', version: 100, limit: 49, maxBehind: 10_000 }),
    reads: [
      ...[inbox, notification, 'notification by notification_changed (user_id, changed_version)'],
      ...['bulk by key (user_id, version)', 'removal by key (user_id, version)'],
    ],
  },
  {
    of: 'deliver',
    run: () =>
      store.write(deliver, {
        id: 'd',
        producerId: 'p1',
        idempotency: null,
        recipients: several,
        content: contentOf({ title: 'x' }),
        category: 'c1',
        createdAt: '2026-01-01T00:00:00.000Z',
        key: null,
        at: 1,
      }),
    reads: [
      ...[
        'category by key (application, name)',
        'preference by key (user_id, category)',
        'producer by key (id)',
        'sorted',
      ],
      ...['user by key (id)', 'user by key (id) alone', 'user by user_username_key (username)'],
      'user by user_by_external_id (external_id, issuer)',
    ],
  },
  {
    of: 'markRead',
    run: () => store.write(markRead, { userId: 'u1', id: 'id1-191', at }),
    reads: ['sorted', inbox, byId, notification, category],
  },
  {
    of: 'markAllRead',
    run: () => store.write(markAllRead, { userId: 'u1', throughId: null, at }),
    reads: [
      ...['sorted', inbox, 'many inbox_category by key (user_id)'],
      'notification by notification_by_state (user_id, state) alone',
      'notification by notification_by_state (user_id, state)',
      'bulk by key (user_id, version)',
    ],
  },
  {
    of: 'a later step of markAllRead',
    run: () =>
      store.write(markAllRead, {
        userId: 'u1',
        throughId: null,
        at,
        rest: { act: 200, through: 200 },
      }),
    reads: [inbox, byState],
  },
  {
    of: 'archiveRead',
    run: () => store.write(archiveRead, { userId: 'u1', at }),
    reads: [inbox, byState],
  },
  {
    of: 'undo',
    run: () => store.write(undo, { userId: 'u3', at }),
    reads: [inbox, 'many bulk by key (user_id, version)', 'sorted', byState],
  },
  {
    of: 'findDue',
    run: () => store.read(findDue, at),
    reads: [
      'notification by notification_by_expiry (expires_at)',
      'notification by notification_to_wake (snoozed_until)',
    ],
  },
  {
    of: 'dueQueues',
    run: () => store.read(dueQueues, { channel: 'webhook', at }),
    reads: [
      ...['sorted', 'outbox by outbox_by_queue (channel) alone'],
      'outbox by outbox_by_queue (channel, queue) alone',
      // The first free row.
      'outbox by outbox_by_queue (channel, queue)',
      'whole pg_database',
    ],
  },
  {
    of: 'claimOutbox',
    run: () =>
      store.write(claimOutbox, {
        holder: 1,
        channel: 'webhook',
        at,
        places: [{ queue: 'w1', limit: 16 }],
      }),
    reads: [
      'outbox by outbox_by_queue (channel, queue, due_at)',
      'outbox by key (id)',
      // It has the databases of the server.
      'whole pg_database',
    ],
  },
]

const { url, drop } = await newDatabase({ isBare: true })
// A migration needs more than one connection.
const migrating = openPool(url)
await migrate(migrating, { partitions: 4 })
await migrating.end()
// Each call has to be made on the connection that reports its plans, which are made without the
// values.
const client = openPool(url, { timeoutMs: 600_000 })
client.options.max = 1
let plans: Step[] = []
client.on('connect', (connection) => {
  connection.on('notice', ({ message = '' }) => {
    const start = message.indexOf('{')
    if (start >= 0) plans.push(JSON.parse(message.slice(start)).Plan)
  })
  // The writes run in the transaction of the test, which takes them back.
  const all = connection as unknown as { query(...args: unknown[]): unknown }
  const send = all.query
  all.query = (...args) => {
    const { text } = args[0] as { text?: string }
    return text === 'begin' || text === 'commit'
      ? Promise.resolve({ command: 'COMMIT' })
      : send.apply(all, args)
  }
})
const db = new Database(client, new ChangeSignals(client, url))
const store = storeOn(db)
after(async () => {
  await db.close()
  await drop()
})

// 20,000 users, 400 of them with many notifications.
await client.query(`
  insert into "user" (id, username, password_hash, created_at, external_id, email, display_name)
    select 'u' || n, 'name' || n, 'hash', n, 'e' || n, 'name' || n || '@example.org', 'Name ' || n from generate_series(1, 20000) n;
  insert into session (user_id, family_hash, secret_hash, username, created_at, last_seen_at, sign_in_id, has_tokens)
    select 'u' || n % 5000, 'f' || n, 'h' || n, 'name', n, n, 'sign-in ' || n, 0 from generate_series(1, 20000) n;
  insert into inbox (user_id, version, last_seq, total, unread, undo_version)
    select 'u' || n, 200, 200, 190, 90, case n when 3 then 101 end from generate_series(1, 400) n;
  insert into inbox (user_id, version) select 'u' || n, 1 from generate_series(401, 8000) n;
  insert into inbox_category select 'u' || n % 2000, 'c' || n / 2000, 9, 9 from generate_series(0, 19999) n;
  insert into notification (user_id, seq, id, version, title, category, key, created_at, read_at, state, changed_version)
    select 'u' || u, s, 'id' || u || '-' || s, s, 'x', 'c1', case when s % 10 = 0 then 'k' || s end, '2026-01-01T00:00:00.000Z',
      case when s % 2 = 0 then '2026-01-01T00:00:00.000Z' end, case when s % 2 = 0 then 'read' else 'unread' end, case when s % 2 = 0 then s end
    from generate_series(1, 400) u, generate_series(1, 200) s;
  update notification set archived_at = read_at, state = 'archived' where seq % 20 = 0;
  update notification set snoozed_until = read_at, state = 'snoozed' where seq % 50 = 2;
  update notification set bulk_version = 101 where user_id = 'u3' and state = 'read';
  insert into bulk select 'u' || u, 100 + s, 101, 'read', null, 1, 200, 200, '2026-01-01T00:00:00.000Z'
    from generate_series(1, 1000) u, generate_series(1, 100, 5) s;
  insert into removal select 'u' || u, s, 'r' || s, '2026-01-01T00:00:00.000Z', 'deleted' from generate_series(1, 1000) u, generate_series(1, 20) s;
  insert into preference select 'u' || u, 'c' || s, 'forever' from generate_series(401, 2400) u, generate_series(1, 10) s;
  insert into category select 'app' || n % 2000, 'c' || n, '', null, 0 from generate_series(1, 20000) n;
  insert into producer (id, name, secret_hash, scopes, created_at, application, number)
    select 'p' || n, 'n', 'h', 'send', n, '', n from generate_series(1, 20000) n;
  insert into outbox (id, kind, due_at, owner_id, channel, queue, target, ids, at)
    select 'o' || n, 'event', n, '', 'webhook', 'w' || n % 3, '', '[]', n from generate_series(1, 20000) n;
  insert into guess_count select 'g' || n, 1, n, n from generate_series(1, 20000) n`)
await client.query('vacuum analyze')

const wholes = new Map(
  (
    await client.query(`
      select part.relname as part, whole.relname as whole from pg_inherits
      join pg_class part on part.oid = inhrelid join pg_class whole on whole.oid = inhparent`)
  ).rows.map(({ part, whole }) => [part as string, whole as string]),
)

const tables = new Map(
  (await client.query('select indexname, tablename from pg_indexes')).rows.map(
    ({ indexname, tablename }) => [
      indexname as string,
      wholes.get(tablename) ?? (tablename as string),
    ],
  ),
)

// The server reports each plan as a notice.
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

for (const { of: name, run, reads } of paths)
  test(`${name} reads ${reads.join(', ')}`, async () => {
    plans = []
    await client.query('begin')
    await run()
    await client.query('rollback')
    const steps = plans.flatMap(stepsOf)
    assert.ok(plans.length > 0, 'the server reported no plan')
    assert.deepEqual(
      [...new Set(steps.flatMap((step) => inWords(step) ?? []))].sort(),
      reads.toSorted(),
    )
    const touched = steps.filter(
      (step) => step['Actual Loops'] > 0 && wholes.has(step['Relation Name'] ?? ''),
    )
    const numbers = new Set(touched.map((step) => step['Relation Name']?.replace(/.*_/, '')))
    assert.ok(
      name === 'deliver' || name === 'findDue' || numbers.size <= 1,
      `${numbers.size} partitions are touched`,
    )
  })

function stepsOf(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)]
}

/** Undefined if it reads no table. In brackets: the columns that bound the range of the index. */
function inWords(step: Step): string | undefined {
  const kind = step['Node Type']
  const part = step['Relation Name'] ?? ''
  // Each node that writes counts there, at most once a second (change-signals/history.ts).
  if (part === 'history') return undefined
  const table = wholes.get(part) ?? part
  const index = step['Index Name'] ?? ''
  const bounds = Array.from(
    (step['Index Cond'] ?? '').matchAll(/\((\w+|lower\(\w+\)) (?:[<>=]+|IS) /g),
    ([, column]) => column,
  )
  const key = `${(wholes.get(index) ?? index).replace(/.*_pkey$/, 'key')} (${[...new Set(bounds)].join(', ')})`
  if (kind === 'Index Scan') return `${table} by ${key}`
  if (kind === 'Index Only Scan') return `${table} by ${key} alone`
  if (kind === 'Bitmap Index Scan') return `many ${tables.get(index)} by ${key}`
  if (kind === 'Tid Scan') return `${table} by its place`
  if (kind === 'Seq Scan') return `whole ${table}`
  return /Sort$/.test(kind) ? 'sorted' : undefined
}
