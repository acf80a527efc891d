// How SQLite reaches the rows of each read: by key or index, without sorting, whatever the tables hold.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from '../database.ts'
import { migrate } from '../migrate.ts'
import { statements } from './statements.ts'

/** Each table that is searched, by what; `alone` where the index has all that is asked. `whole` tables are small. */
const paths: Record<keyof typeof statements, string> = {
  user: 'user by key',
  credentials: 'user by sqlite_autoindex_user_2',
  users: 'user by sqlite_autoindex_user_2',
  session: 's by key, i by key',
  // Once at the start, and when a command cut tokens; expired rows go with the next cut.
  tokenRevocations: 'token_cutoff by token_cutoff_by_expiry',
  // Once at the start: a handful of keys.
  signingKeys: 'whole signing_key, sorted',
  producer: 'producer by key',
  // For a person at the command line.
  producers: 'whole producer, sorted',
  inbox: 'inbox by key',
  range: 'n by key, m by read_mark_by_seq alone, m by read_mark_by_seq alone, m by read_mark_by_seq alone',
  unreadBefore: 'n by key, n by notification_unread alone',
  unreadFromNewest: 'n by key, n by notification_unread alone',
  unreadFromOldest: 'n by key, n by notification_unread alone',
  unreadFrom: 'n by key, n by notification_unread alone',
  unreadInBlock: 'n by notification_unread alone',
  changedSeqs: 'n by notification_changed alone',
  isUnreadBefore: 'whole CONSTANT ROW, n by notification_unread alone',
  notification: 'n by notification_by_id, m by read_mark_by_seq alone',
  categories: 'inbox_category by key',
  versionAt: 'notification by key',
  arrivals: 'n by key, m by read_mark_by_seq alone',
  laterChanges: 'n by notification_changed, m by read_mark_by_seq alone',
  readAlls: 'm by key, n by key',
}

const database = new Database(':memory:')
await migrate(database)

for (const [name, path] of Object.entries(paths) as [keyof typeof paths, string][])
  test(`${name} reads ${path}`, () => {
    const plan = database.prepare(`explain query plan ${statements[name]}`).all()
    const steps = plan.flatMap(({ detail }) => inWords(String(detail)) ?? [])
    assert.equal(steps.join(', '), path)
  })

/** The rows of a page on their way into its one row, in their order and without being stored. */
const isStreamed = /^(CO-ROUTINE|SCAN) \(subquery-\d+\)$/

/** A step of a plan, or undefined for one that reads no table; https://sqlite.org/eqp.html */
function inWords(detail: string): string | undefined {
  const [, table, alone, index] = /^SEARCH (\w+) USING (?:PRIMARY KEY|(COVERING )?INDEX (\w+))/.exec(detail) ?? []
  if (table !== undefined) return `${table} by ${index ?? 'key'}${alone === undefined ? '' : ' alone'}`
  if (detail.startsWith('SCAN ') && !isStreamed.test(detail)) return `whole ${detail.slice('SCAN '.length)}`
  if (detail.startsWith('USE TEMP B-TREE')) return 'sorted'
  return /SUBQUERY \d+$/.test(detail) || isStreamed.test(detail) ? undefined : `unknown: ${detail}`
}
