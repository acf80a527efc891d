// How SQLite finds the rows of each read: by key or index, without sorting, independent of the content of the tables.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRecorded, lastSettingsEntry, listAudit } from '../../audit/audit.store.ts'
import { newestRowAt } from '../../audit/time-seen.store.ts'
import { findKeyChange, inboxesOf, isKeyChangeDone } from '../../delivery/by-key.store.ts'
import { findOutcome } from '../../delivery/delivery.store.ts'
import { factorsOf, factorsSealedOtherwise, findChallenge, offeredFactors } from '../../factors/factors.store.ts'
import { guessRefusals } from '../../guessing/guesses.store.ts'
import { explainNotification } from '../../inbox/explain.store.ts'
import { readCounts, readInbox, readNotification } from '../../inbox/inbox.store.ts'
import type { Shape } from '../../inbox/lists.ts'
import { countOld, findDue, findOld, sizesAfter } from '../../inbox/retention.store.ts'
import * as changes from '../../inbox/sqlite/changes.ts'
import * as pages from '../../inbox/sqlite/pages.ts'
import { findLink } from '../../links/links.store.ts'
import { readCategory, readPreferences } from '../../preferences/preferences.store.ts'
import { findProducer, listProducers } from '../../producers/producers.store.ts'
import { providerAccounts, userWith } from '../../providers/provider-accounts.store.ts'
import * as sessions from '../../sessions/sessions.store.ts'
import { listSignIns } from '../../sessions/sign-ins.store.ts'
import { signingKeys } from '../../tokens/signing-keys.store.ts'
import { tokenRevocations } from '../../tokens/tokens.store.ts'
import { sealedErasedKey } from '../../users/erased-ids.store.ts'
import { notificationsAfter, recordsOf } from '../../users/own-data/export.store.ts'
import {
  findCredentials,
  findUser,
  findUserByExternalId,
  findUserByUsername,
  findUsersByEmail,
  hasVerifiedEmail,
  listUsers,
} from '../../users/users.store.ts'
import { type Read, Texts } from '../statements.ts'
import { operationNames } from '../testing/operations.ts'
import { Database } from './database.ts'
import { migrate } from './migrate.ts'

const readAtInRange = 'm by key, m by read_mark_by_seq alone, m by read_mark_by_seq alone, m by read_mark_by_seq alone'
const archivedAt = 'i by key, m by archive_mark_by_seq alone'
const readAtByAnyMark = 'm by read_mark_by_seq alone, m by key, m by key, sorted'

/** Each table that is searched, and by which key; `alone` if the index holds all that is read. Tables read `whole` are small. */
const paths: Record<string, Record<string, string>> = {
  sessions: {
    sessionWithInbox: 's by key, i by key',
  },
  pages: {
    inboxVersion: 'inbox by key',
    inboxByUser: 'inbox by key',
  },
  changes: {
    newestUpTo: 'notification by key',
    arrivals: `n by key, ${readAtByAnyMark}, ${archivedAt}`,
    laterChanges: `n by notification_changed, ${readAtByAnyMark}, m by read_mark_by_seq alone, m by key, m by key, sorted, ${archivedAt}`,
    readAlls: 'm by key, n by key, c by key, c by key',
    archiveReads: 'archive_mark by key',
    removals: 'removal by key',
  },
}

/** The reads that are written once for both engines: a call of each, and the paths of its statements. */
const byId = 'u by key'
const byUsername = 'u by sqlite_autoindex_user_2'
const byExternalId = 'u by user_by_external_id'
const alive = { sessions: { createdAfter: 0, lastSeenAfter: 0, lastSeenUntil: 9 }, tokensSince: 0 }
const stored: { of: string; run: Read<unknown>; path: string }[] = [
  { of: 'findUser', run: findUser('u'), path: byId },
  { of: 'findUserByUsername', run: findUserByUsername('ann'), path: byUsername },
  { of: 'findUserByExternalId', run: findUserByExternalId({ issuer: '', externalId: 'e' }), path: byExternalId },
  { of: 'findCredentials', run: findCredentials('ann'), path: byUsername },
  { of: 'findUsersByEmail', run: findUsersByEmail({ email: 'a', limit: 1 }), path: 'u by user_by_email, sorted' },
  { of: 'hasVerifiedEmail', run: hasVerifiedEmail(), path: 'whole u USING INDEX user_by_verified_email' },
  { of: 'listUsers', run: listUsers({ after: '', limit: 1 }), path: byId },
  {
    of: 'listUsers',
    run: listUsers({ after: '', limit: 1, externalId: 'e' }),
    path: `${byExternalId}, sorted`,
  },
  {
    of: 'listUsers',
    run: listUsers({ after: '', limit: 1, application: 'shop' }),
    path: 'u by user_of_application',
  },
  {
    of: 'listSignIns',
    run: listSignIns({ userId: 'u', ownSignInId: 's', alive, limit: 1 }),
    path: 'session by key, user by key, token_cutoff by key, a by key, c by key, sorted',
  },
  // At the start, and after a command revoked tokens. A later revocation removes expired rows.
  { of: 'tokenRevocations', run: tokenRevocations(1), path: 'token_cutoff by token_cutoff_by_expiry' },
  { of: 'listAudit', run: listAudit({ limit: 1 }), path: 'audit by audit_by_id' },
  { of: 'listAudit', run: listAudit({ userId: 'u', limit: 1 }), path: 'audit by key' },
  { of: 'isRecorded', run: isRecorded({ userId: 'u', signInId: 's', event: 'e' }), path: 'audit by key' },
  { of: 'lastSettingsEntry', run: lastSettingsEntry(), path: 'whole audit USING INDEX audit_of_settings' },
  { of: 'factorsOf', run: factorsOf('u'), path: 'factor by key, recovery_code by key' },
  { of: 'offeredFactors', run: offeredFactors('u'), path: 'factor by key, recovery_code by key' },
  { of: 'findChallenge', run: findChallenge({ userId: 'u', hash: 'h', at: 1 }), path: 'challenge by key' },
  {
    of: 'userWith',
    run: userWith({ issuer: 'i', subject: 's' }),
    path: 'a by key, u by key',
  },
  { of: 'providerAccounts', run: providerAccounts('u'), path: 'provider_account by provider_account_by_owner' },
  { of: 'findLink', run: findLink('h'), path: 'one_time_link by one_time_link_by_hash, u by key' },
  // By a command.
  {
    of: 'factorsSealedOtherwise',
    run: factorsSealedOtherwise({ prefix: 'p', after: { userId: '', id: '' }, limit: 9 }),
    path: 'factor by key',
  },
  { of: 'findProducer', run: findProducer('p'), path: 'producer by key' },
  // For a person at the command line.
  { of: 'listProducers', run: listProducers(), path: 'whole producer, sorted' },
  {
    of: 'guessRefusals',
    run: guessRefusals({ limits: [{ key: 'k', delaysMs: [], keptMs: 1 }], at: 1 }),
    path: 'guess_count by key',
  },
  { of: 'readInbox', run: readInbox('u'), path: 'i by key' },
  {
    of: 'readNotification',
    run: readNotification({ userId: 'u', id: 'n' }),
    path: `n by notification_by_id, ${readAtByAnyMark}, ${archivedAt}`,
  },
  // By a command.
  {
    of: 'explainNotification',
    run: explainNotification({ userId: 'u', id: 'n' }),
    path: `i by key, n by notification_by_id, p by sqlite_autoindex_producer_2, ${readAtByAnyMark}, ${archivedAt}, removal by key`,
  },
  {
    of: 'recordsOf',
    run: recordsOf('u'),
    path: 'factor by key, recovery_code by key, session by key, sorted, known_device by key, sorted, provider_account by provider_account_by_owner, p by key',
  },
  {
    of: 'notificationsAfter',
    run: notificationsAfter({ userId: 'u', seq: 1 }),
    path: `n by key, ${readAtByAnyMark}, ${archivedAt}`,
  },
  { of: 'readCategory', run: readCategory({ application: 'a', name: 'n' }), path: 'category by key' },
  { of: 'readPreferences', run: readPreferences({ userId: 'u', now: 'n' }), path: byId },
  { of: 'readCounts', run: readCounts('u'), path: 'i by key, c by key' },
  {
    of: 'findDue',
    run: findDue(1),
    path: 'notification by notification_by_expiry alone, notification by notification_to_wake',
  },
  {
    of: 'findOld',
    run: findOld({
      before: 1,
      after: { id: '', userId: '' },
      retention: { readBefore: '', unreadBefore: '' },
    }),
    path: 'n by notification_by_id, i by key',
  },
  {
    of: 'newestRowAt',
    run: newestRowAt(),
    path: 'notification by notification_by_id alone, audit by audit_by_id alone',
  },
  {
    of: 'countOld',
    run: countOld({ readBefore: '', unreadBefore: '' }),
    path: 'whole n, i by key, m by key, sorted, m by key, m by key, sorted',
  },
  { of: 'sizesAfter', run: sizesAfter(''), path: 'inbox by key' },
  {
    of: 'inboxesOf',
    run: inboxesOf({ key: 'k', application: '' }),
    path: 'notification by notification_by_key',
  },
  // Nearly always empty.
  { of: 'findOutcome', run: findOutcome({ producerId: 'p', key: 'k', bodyHash: 'h' }), path: 'delivery by key' },
  { of: 'findKeyChange', run: findKeyChange(), path: 'whole key_change' },
  { of: 'isKeyChangeDone', run: isKeyChangeDone('c'), path: 'key_change by key' },
  // Once a minute, and after a change: a handful of keys.
  { of: 'signingKeys', run: signingKeys(), path: 'whole signing_key, sorted' },
  { of: 'sealedErasedKey', run: sealedErasedKey(), path: 'whole erased_key' },
]

/** Their statements are in the modules below. */
const own = new Set(['findSession', 'readPage', 'changesSince'])

const modules: Record<string, Record<string, unknown>> = {
  sessions,
  pages,
  changes,
}
const isStatement = (exported: unknown): exported is string => /^\s*select /.test(String(exported))

const database = new Database(':memory:')
await migrate(database)

const texts = new Texts('sqlite', (text) => text)
test('the paths of every read that is written once are here', () => {
  assert.deepEqual(
    operationNames('Read').filter((name) => !own.has(name) && !stored.some((one) => one.of === name)),
    [],
  )
})
for (const { of: name, run, path } of stored)
  test(`${name} reads ${path}`, () => {
    const plan: string[] = []
    for (let step = run.next(); !step.done; step = run.next(step.value.kind === 'get' ? undefined : []))
      plan.push(...pathOf(texts.of(step.value)))
    assert.equal(plan.join(', '), path)
  })

for (const [module, exports] of Object.entries(modules)) {
  const statements = Object.entries(exports).filter(([, exported]) => isStatement(exported))
  test(`every read of ${module} has its path here`, () => {
    assert.deepEqual(statements.map(([name]) => name).sort(), Object.keys(paths[module] ?? {}).sort())
  })
  for (const [name, sql] of statements)
    test(`${module}.${name} reads ${paths[module]?.[name]}`, () => {
      assert.equal(pathOf(sql).join(', '), paths[module]?.[name])
    })
}

const ofLists = (shape: Omit<Shape, 'hasCategoryMarks' | 'hasAway'>, ...by: string[]) => ({
  shape: { hasAway: false, ...shape },
  by,
})
const listed = 'n by notification_listed alone'
const categories = 'inbox_category by key'
const marked = 'n by notification_marked_unread'
const lists = [
  ofLists({ status: 'all', hasCategories: false }, listed, categories),
  ofLists({ status: 'all', hasCategories: true }, listed),
  ofLists({ status: 'unread', hasCategories: false }, listed, categories, `${marked} alone`),
  ofLists({ status: 'unread', hasCategories: true }, listed, marked),
  ofLists({ status: 'read', hasCategories: false }, listed, categories, `${marked} alone`),
  ofLists({ status: 'read', hasCategories: true }, listed, marked),
]
/** If a read-all of a category covers some, their newest marks bound the runs of all categories. */
const byMarks = [
  ...lists.slice(0, 2),
  ofLists({ status: 'unread', hasCategories: false }, listed, categories, marked, 'm by key'),
  ofLists({ status: 'unread', hasCategories: true }, listed, marked, 'm by key'),
  ofLists({ status: 'read', hasCategories: false }, listed, categories, marked, 'm by key'),
  ofLists({ status: 'read', hasCategories: true }, listed, marked, 'm by key'),
]
const kept = ['n by notification_kept_read alone', 'n by notification_kept_unread alone']
const keptInCategories = ['n by notification_kept_read', 'n by notification_kept_unread']
const someAway = [
  ofLists({ status: 'inbox', hasCategories: false }, listed, categories, ...kept),
  ofLists({ status: 'inbox', hasCategories: true }, listed, ...keptInCategories),
  ofLists(
    { status: 'unread', hasCategories: false },
    listed,
    categories,
    `${marked} alone`,
    'n by notification_kept_unread alone',
  ),
  ofLists({ status: 'read', hasCategories: false }, listed, categories, `${marked} alone`, ...kept),
  ofLists({ status: 'archived', hasCategories: false }, listed, categories, ...kept, 'm by key'),
  ofLists({ status: 'archived', hasCategories: true }, listed, ...keptInCategories, 'm by key'),
  ofLists({ status: 'snoozed', hasCategories: false }, listed, categories),
  ofLists({ status: 'snoozed', hasCategories: true }, listed),
  ofLists({ status: 'all', hasCategories: true }, listed, ...keptInCategories, 'm by key'),
].map(({ shape, by }) => ({ shape: { ...shape, hasAway: true }, by }))
for (const [hasCategoryMarks, expected] of [
  [false, lists],
  [false, someAway],
  [true, byMarks],
] as const)
  for (const { shape, by } of expected)
    test(`lists of ${JSON.stringify({ ...shape, hasCategoryMarks })} read ${by.join(', ')}`, () => {
      const others = ['inbox by key', 'sorted']
      const { seqs, nearSeqs, count } = pages.statementsOf({ ...shape, hasCategoryMarks })
      if (by.every((step) => !step.startsWith('n by ') || step.endsWith(' alone')))
        for (const text of [seqs, nearSeqs, count]) assert.ok(!readsRows(text))
      for (const text of [seqs, nearSeqs, count])
        assert.deepEqual(new Set(pathOf(text).filter((step) => !others.includes(step))), new Set(by))
    })

test('the items of a page are read by key, with the marks that cover them', () => {
  const items = (marks: { hasCategoryMarks: boolean; hasAway: boolean }) => {
    const { chosen, range, total } = pages.statementsOf({ status: 'all', hasCategories: false, ...marks })
    assert.deepEqual(pathOf(total), ['inbox_category by key'])
    assert.deepEqual(pathOf(range), pathOf(chosen))
    return pathOf(range).join(', ')
  }
  assert.equal(items({ hasCategoryMarks: false, hasAway: false }), `n by key, ${readAtInRange}`)
  assert.equal(items({ hasCategoryMarks: true, hasAway: false }), `n by key, ${readAtByAnyMark}`)
  assert.equal(items({ hasCategoryMarks: false, hasAway: true }), `n by key, ${readAtInRange}, ${archivedAt}`)
})

const rows = database.prepare("select rootpage from sqlite_schema where name = 'notification'").get()?.rootpage

/** The plan of an index with an expression says that it has all that is read, even if the program reads each row as well. */
function readsRows(sql: string): boolean {
  const program = database.prepare(`explain ${sql}`).all()
  return program.some(({ opcode, p2 }) => opcode === 'OpenRead' && p2 === rows)
}

function pathOf(sql: unknown): string[] {
  const plan = database.prepare(`explain query plan ${sql}`).all()
  return plan.flatMap(({ detail }) => inWords(String(detail)) ?? [])
}

/** The rows of a page are merged and joined into one row, in their order and without being stored. */
const isStreamed =
  /^((CO-ROUTINE|SCAN) (\(subquery-\d+\)|(first_|later_)?mark|one|page|expired|snoozed)|MERGE \(UNION ALL\)|COMPOUND QUERY|UNION ALL|LEFT|RIGHT)$/
/** A list in a parameter, and the filter that SQLite makes of a list before it looks a value up in it. */
const isList = /^(SCAN (json_each|one) VIRTUAL TABLE INDEX 1:|CREATE BLOOM FILTER)$/

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
