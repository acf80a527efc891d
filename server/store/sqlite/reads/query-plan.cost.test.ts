// How SQLite finds the rows of each read: by key or index, without sorting, independent of the content of the tables.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from '../database.ts'
import { migrate } from '../migrate.ts'
import * as changes from './changes.ts'
import * as foundInbox from './found-inbox.ts'
import * as inbox from './inbox.ts'
import * as pages from './pages.ts'
import * as runs from './runs.ts'
import * as audit from './sign-in/audit.ts'
import * as factors from './sign-in/factors.ts'
import * as guesses from './sign-in/guesses.ts'
import * as links from './sign-in/links.ts'
import * as producers from './sign-in/producers.ts'
import * as providerAccounts from './sign-in/provider-accounts.ts'
import * as sealedTexts from './sign-in/sealed-texts.ts'
import * as sessions from './sign-in/sessions.ts'
import * as signingKeys from './sign-in/signing-keys.ts'
import * as tokens from './sign-in/tokens.ts'
import * as users from './sign-in/users.ts'

/** A page of notifications has the look-ups of readAt once for each form of the content; each row takes one of them. */
const inEachForm = (path: string) => [path, path, path].join(', ')
const readAt = inEachForm('m by read_mark_by_seq alone, m by key')
const readAtInRange = inEachForm(
  'm by key, m by read_mark_by_seq alone, m by read_mark_by_seq alone, m by read_mark_by_seq alone',
)
const readAtByAnyMark = inEachForm('m by read_mark_by_seq alone, m by key, m by key, sorted')

/** Each table that is searched, and by which key; `alone` if the index holds all that is read. Tables read `whole` are small. */
const paths: Record<string, Record<string, string>> = {
  users: {
    userById: 'user by sqlite_autoindex_user_1',
    credentialsByUsername: 'user by sqlite_autoindex_user_2',
    userByUsername: 'user by sqlite_autoindex_user_2',
    userByExternalId: 'user by user_by_external_id',
    usersAfter: 'user by sqlite_autoindex_user_1',
    usersByEmail: 'user by user_by_email, sorted',
    usersByExternalId: 'user by user_by_external_id, sorted',
    usersOfApplication: 'user by user_of_application',
  },
  sessions: {
    sessionWithInbox: 's by key, i by key, user by sqlite_autoindex_user_1 alone',
    renewedSession: 'session by key',
  },
  links: { linkByHash: 'one_time_link by one_time_link_by_hash' },
  tokens: {
    // At the start, and after a command revoked tokens. A later revocation removes expired rows.
    revocationsAfter: 'token_cutoff by token_cutoff_by_expiry',
  },
  factors: {
    factorsOfUser: 'factor by key',
    unusedRecoveryCodes: 'recovery_code by key',
    challengeByHash: 'challenge by key',
  },
  // Once a minute, and after a change: a handful of keys.
  // By a command.
  sealedTexts: { factorsSealed: 'factor by key' },
  signingKeys: { allSigningKeys: 'whole signing_key, sorted' },
  producers: {
    producerById: 'producer by key',
    // For a person at the command line.
    allProducers: 'whole producer, sorted',
  },
  providerAccounts: { accountsOfUser: 'provider_account by provider_account_by_owner' },
  audit: {
    auditEntries: 'audit by audit_by_id',
    auditEntriesOfUser: 'audit by key',
    newestSettingsEntry: 'whole audit USING INDEX audit_of_settings',
  },
  guesses: { guessCount: 'guess_count by key' },
  inbox: {
    notificationById: `n by notification_by_id, ${readAt}`,
    notificationByIdByAnyMark: `n by notification_by_id, ${readAtByAnyMark}`,
    categoryCounts: 'inbox by key',
    inboxVersion: 'inbox by key, user by sqlite_autoindex_user_1 alone',
  },
  foundInbox: { inboxByUser: 'inbox by key, user by sqlite_autoindex_user_1 alone' },
  pages: {
    chosenItemsByAnyMark: `n by key, ${readAtByAnyMark}`,
    rangeByAnyMark: `n by key, ${readAtByAnyMark}`,
    chosenItems: `n by key, ${readAtInRange}`,
    range: `n by key, ${readAtInRange}`,
  },
  runs: {
    categoryTotals: 'inbox by key',
    allOfCategory: 'n by notification_read_by_category alone, n by notification_unread_by_category alone',
    unreadOfCategories: 'n by notification_unread_by_category alone, n by notification_unread_by_category alone',
    readOfCategory: 'n by notification_read_by_category alone, n by notification_unread_by_category alone',
    allRead: 'n by notification_read alone, n by notification_unread alone',
    allReadAmongMarkedUnread:
      'n by notification_read alone, n by notification_marked_unread alone, n by notification_unread alone',
    // The marked ones are listed once for both categories.
    readOfCategoriesAmongMarkedUnread:
      'n by notification_read_by_category alone, n by notification_marked_unread alone, n by notification_unread_by_category alone, n by notification_read_by_category alone, n by notification_unread_by_category alone',
    // Sorts only the notifications that the user marked as unread since the last read-all.
    unreadWithMarkedUnread: 'n by notification_unread alone, n by notification_marked_unread alone, sorted',
    unreadOfCategoryWithMarkedUnread:
      'n by notification_unread_by_category alone, n by notification_marked_unread, sorted',
  },
  changes: {
    newestUpTo: 'notification by key',
    arrivals: `n by key, ${readAt}`,
    laterChanges: `n by notification_changed, ${readAt}`,
    arrivalsByAnyMark: `n by key, ${readAtByAnyMark}`,
    laterChangesByAnyMark: `n by notification_changed, ${readAtByAnyMark}, m by read_mark_by_seq alone, m by key, m by key, sorted`,
    readAlls: 'm by key, n by key, c by key, c by key',
  },
}

/** These statements are made for each filter. */
const filter = { categoryCount: 0, hasMarkedUnread: false, hasCategoryMarks: false }
const filtered = {
  unreadOfCategories: runs.seqsSql({ ...filter, status: 'unread', categoryCount: 2 }),
  allOfCategory: runs.seqsSql({ ...filter, status: 'all', categoryCount: 1 }),
  readOfCategory: runs.seqsSql({ ...filter, status: 'read', categoryCount: 1 }),
  allRead: runs.seqsSql({ ...filter, status: 'read' }),
  allReadAmongMarkedUnread: runs.seqsSql({ ...filter, status: 'read', hasMarkedUnread: true }),
  readOfCategoriesAmongMarkedUnread: runs.seqsSql({
    ...filter,
    status: 'read',
    categoryCount: 2,
    hasMarkedUnread: true,
  }),
  unreadWithMarkedUnread: runs.seqsSql({ ...filter, status: 'unread', hasMarkedUnread: true }),
  unreadOfCategoryWithMarkedUnread: runs.seqsSql({
    ...filter,
    status: 'unread',
    categoryCount: 1,
    hasMarkedUnread: true,
  }),
}

const modules: Record<string, Record<string, unknown>> = {
  users,
  sessions,
  links,
  tokens,
  factors,
  signingKeys,
  sealedTexts,
  producers,
  providerAccounts,
  guesses,
  foundInbox,
  inbox,
  pages,
  runs: { ...runs, ...filtered },
  changes,
  audit,
}
const isStatement = (exported: unknown): exported is string => /^\s*select /.test(String(exported))

const database = new Database(':memory:')
await migrate(database)

for (const [noun, exports] of Object.entries(modules)) {
  const statements = Object.entries(exports).filter(([, exported]) => isStatement(exported))
  test(`every read of ${noun} has its path here`, () => {
    assert.deepEqual(statements.map(([name]) => name).sort(), Object.keys(paths[noun] ?? {}).sort())
  })
  for (const [name, sql] of statements)
    test(`${noun}.${name} reads ${paths[noun]?.[name]}`, () => {
      const plan = database.prepare(`explain query plan ${sql}`).all()
      const steps = plan.flatMap(({ detail }) => inWords(String(detail)) ?? [])
      assert.equal(steps.join(', '), paths[noun]?.[name])
    })
}

/** The rows of a page are merged and joined into one row, in their order and without being stored. */
const isStreamed = /^((CO-ROUTINE|SCAN) \(subquery-\d+\)|MERGE \(UNION ALL\)|COMPOUND QUERY|UNION ALL|LEFT|RIGHT)$/
/** A list in a parameter, and the filter that SQLite makes of a list before it looks a value up in it. */
const isList = /^(SCAN json_each VIRTUAL TABLE INDEX 1:|CREATE BLOOM FILTER)$/

/** A step of a plan, or undefined for one that reads no table; https://sqlite.org/eqp.html */
function inWords(detail: string): string | undefined {
  const [, table, alone, index] = /^SEARCH (\w+) USING (?:PRIMARY KEY|(COVERING )?INDEX (\w+))/.exec(detail) ?? []
  if (table !== undefined) return `${table} by ${index ?? 'key'}${alone === undefined ? '' : ' alone'}`
  if (detail.startsWith('SCAN ') && !isStreamed.test(detail) && !isList.test(detail))
    return `whole ${detail.slice('SCAN '.length)}`
  if (detail.startsWith('USE TEMP B-TREE')) return 'sorted'
  return /SUBQUERY( \d+)?$/.test(detail) || isStreamed.test(detail) || isList.test(detail)
    ? undefined
    : `unknown: ${detail}`
}
