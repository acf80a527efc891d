// SQLite finds these rows by key or index, whatever the tables contain.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastOf } from '../../doctor/store/findings.ts'
import { guessRefusals } from '../../guessing/guesses.store.ts'
import { archiveRead, markAllRead } from '../../inbox/bulk/bulk.store.ts'
import { undo } from '../../inbox/bulk/undo.store.ts'
import type { Shape } from '../../inbox/lists.ts'
import { markRead } from '../../inbox/marks.store.ts'
import { findDue } from '../../inbox/retention.store.ts'
import * as changes from '../../inbox/sqlite/changes.ts'
import * as pages from '../../inbox/sqlite/pages.ts'
import { searchUsers } from '../../operator/people.store.ts'
import { claimOutbox } from '../../reach/outbox.store.ts'
import * as sessions from '../../sessions/sessions.store.ts'
import { findCredentials } from '../../users/users.store.ts'
import { boundValues, type Read, Texts, type Write } from '../statements.ts'
import { Database } from './database.ts'
import { migrate } from './migrate.ts'

const database = new Database(':memory:')
await migrate(database)
const userId = '01900000-0000-7000-8000-000000000000'
database.exec(`
  insert into inbox (user_id, version, last_seq, total, unread, undo_version) values (unhex('01900000000070008000000000000000'), 2, 2, 2, 1, 1);
  insert into bulk values (unhex('01900000000070008000000000000000'), 1, 1, 'read', null, 1, 1, 1, '2026-01-01');
  insert into notification (user_id, seq, id, version, title, created_at, read_at, state, bulk_version)
    values (unhex('01900000000070008000000000000000'), 1, 'a', 1, 'x', '2026', '2026', 'read', 1),
      (unhex('01900000000070008000000000000000'), 2, 'b', 2, 'x', '2026', null, 'unread', null);
  insert into outbox (id, kind, due_at, owner_id, channel, queue, target, ids, at) values ('a', 'test', 1, '', 'mail', '', '', '[]', 1)`)

const others = new Set(['sorted', 'whole picked', 'unknown: MATERIALIZE picked'])
const byState = 'notification by notification_by_state'
const byKey = 'notification by key'

/** By which key each table is searched; `alone` if the index holds all that is read. */
const paths: [name: string, run: Read<unknown> | Write<unknown>, path: string[]][] = [
  ['findCredentials', findCredentials('ann'), ['u by sqlite_autoindex_user_2']],
  [
    'searchUsers',
    searchUsers('ann'),
    [
      'u by key',
      'user by sqlite_autoindex_user_2',
      'user by user_by_email',
      'user by user_by_display_name',
      'user by user_by_external_id alone',
      'user by key',
    ],
  ],
  [
    'guessRefusals',
    guessRefusals({ limits: [{ key: 'k', delaysMs: [], keptMs: 1 }], at: 1 }),
    ['guess_count by key'],
  ],
  [
    'findDue',
    findDue(1),
    ['notification by notification_by_expiry alone', 'notification by notification_to_wake'],
  ],
  [
    'claimOutbox',
    claimOutbox({ holder: 1, channel: 'mail', at: 1, places: [{ queue: '', limit: 1 }] }),
    ['outbox by outbox_by_queue', 'outbox by key'],
  ],
  [
    'markRead',
    markRead.write({ userId, id: 'b', at: 1 }),
    ['i by key', 'n by notification_by_id', 'inbox by key', byKey],
  ],
  [
    'markAllRead',
    markAllRead.write({ userId, throughId: null, at: 1 }),
    ['i by key', 'bulk by key', byState, byKey, 'inbox by key'],
  ],
  [
    'archiveRead',
    archiveRead.write({ userId, at: 1 }),
    ['i by key', 'bulk by key', byState, byKey, 'inbox by key'],
  ],
  [
    'undo',
    undo.write({ userId, at: 1 }),
    ['i by key', 'bulk by key', byState, byKey, 'inbox by key'],
  ],
]

for (const [name, run, path] of paths)
  test(`${name} reads ${path.join(', ')}`, () => {
    assert.deepEqual(plansOf(run), new Set(path))
  })

const texts = new Texts('sqlite', (text) => text)
function plansOf(operation: Read<unknown> | Write<unknown>): Set<string> {
  const found: string[] = []
  database.exec('begin')
  for (let step = operation.next(); !step.done; ) {
    const statement = step.value
    if (!('strings' in statement) || ('only' in statement && statement.only !== undefined)) {
      step = operation.next(undefined)
      continue
    }
    const text = texts.of(statement)
    found.push(...pathOf(text))
    const rows = database.prepare(text).all(...boundValues(statement, 'sqlite'))
    step = operation.next(statement.kind === 'get' ? rows[0] : rows)
  }
  database.exec('rollback')
  return new Set(found.filter((one) => !others.has(one)))
}

const statements: Record<string, [sql: string, path: string[]]> = {
  sessionWithInbox: [sessions.sessionWithInbox, ['s by key', 'i by key']],
  inboxByUser: [pages.inboxByUser, ['inbox by key']],
  arrivals: [changes.arrivals, ['n by key']],
  laterChanges: [changes.laterChanges, ['n by notification_changed']],
  bulk: [changes.bulk, ['b by key', 'n by key']],
  lastTidying: [lastOf('tidying-failed', ''), ['audit by audit_of_tidying']],
  lastRefusedMails: [lastOf('mails-refused', ''), ['audit by audit_of_mails']],
  removals: [changes.removals, ['removal by key']],
}
for (const [name, [sql, path]] of Object.entries(statements))
  test(`${name} reads ${path.join(', ')}`, () => {
    assert.deepEqual(pathOf(sql), path)
  })

const lists: [shape: Shape, path: string][] = [
  [{ status: 'all', hasCategories: false }, 'notification by key'],
  [{ status: 'inbox', hasCategories: false }, 'notification by notification_by_state alone'],
  [{ status: 'unread', hasCategories: false }, 'notification by notification_by_state alone'],
  [{ status: 'all', hasCategories: true }, 'notification by notification_by_category alone'],
  [{ status: 'unread', hasCategories: true }, 'notification by notification_by_category alone'],
]
for (const [shape, path] of lists)
  test(`a list of ${JSON.stringify(shape)} reads ${path}, and the rows of the page by key`, () => {
    const { page, skip, total } = pages.statementsOf(shape)
    assert.deepEqual(
      new Set(pathOf(page).filter((one) => !others.has(one))),
      new Set([path, 'n by key']),
    )
    assert.deepEqual(new Set(pathOf(skip).filter((one) => !others.has(one))), new Set([path]))
    assert.deepEqual(pathOf(total), ['inbox_category by key'])
  })

function pathOf(sql: unknown): string[] {
  const plan = database.prepare(`explain query plan ${sql}`).all()
  return plan.flatMap(({ detail }) => inWords(String(detail)) ?? [])
}

/** The rows of a page are merged and joined into one row, in their order and without being stored. */
const isStreamed =
  /^((CO-ROUTINE|SCAN) (\(subquery-\d+\)|(first_|later_)?mark|one|page|expired|snoozed|of_\w+)|MERGE \(UNION( ALL)?\)|COMPOUND QUERY|UNION ALL|LEFT|RIGHT)$/
/** A list in a parameter, and the filter that SQLite makes of a list before it looks a value up in it. */
const isList = /^(SCAN (json_each|one) VIRTUAL TABLE INDEX 1:|CREATE BLOOM FILTER)$/

/** Undefined for a step that reads no table; https://sqlite.org/eqp.html */
function inWords(detail: string): string | undefined {
  const [, table, alone, index] =
    /^SEARCH (\w+) USING (?:PRIMARY KEY|(COVERING )?INDEX (\w+))/.exec(detail) ?? []
  if (table !== undefined)
    return `${table} by ${index ?? 'key'}${alone === undefined ? '' : ' alone'}`
  if (detail.startsWith('SCAN ') && !isStreamed.test(detail) && !isList.test(detail))
    return `whole ${detail.slice('SCAN '.length)}`
  if (detail.startsWith('USE TEMP B-TREE')) return 'sorted'
  return /SUBQUERY( \d+)?$/.test(detail) || isStreamed.test(detail) || isList.test(detail)
    ? undefined
    : `unknown: ${detail}`
}
