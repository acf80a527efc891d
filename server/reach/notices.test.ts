import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { entriesOf } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { CarillonError } from '../basics/errors.ts'
import { mailWayOf } from '../inbox/reminders.store.ts'
import type { AuditEntry } from '../store/events.ts'
import { replaceOperation, stubStore } from '../store/testing/operations.ts'
import { findUser, type User } from '../users/users.store.ts'
import { Notices } from './notices.ts'

const user: User = {
  id: 'ann',
  username: 'ann',
  displayName: null,
  application: '',
  externalId: null,
  issuer: '',
  locale: null,
  email: 'ann@example.org',
  emailVerifiedAt: 1,
  createdAt: 0,
  disabledAt: null,
  credentialGeneration: 0,
  issuedGeneration: 0,
  deviceGeneration: 0,
  passwordReportedAt: null,
  passwordEndsAt: null,
  role: null,
}

const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const source = { ...serviceSource, actor: 'user:ann', address: '192.0.2.1', userAgent }

/** Notices of a user, and what they deliver and let wait. */
function noticesFor(reader: User, beginNoticeMail: () => Promise<void> = async () => {}) {
  const store = stubStore()
  const entries: AuditEntry[] = []
  const bodies: string[] = []
  const joined: string[] = []
  replaceOperation(store, findUser, async () => reader)
  replaceOperation(store, mailWayOf, async () => 'on' as const)
  replaceOperation(store, entriesOf, async ({ ids }) =>
    entries.filter(({ id }) => ids.includes(id)),
  )
  const notices = new Notices({
    store,
    guesses: { beginNoticeMail },
    deliver: async (_user, { body }) => bodies.push(body) > 0,
    ofNewDevices: true,
    outbox: { join: async ({ joined: id }) => void joined.push(id) },
    now: () => 0,
    pagesUrl: () => 'https://app.example',
    log: pino({ level: 'silent' }),
  })
  return {
    bodies,
    async note(event: 'factor-removed' | 'password-changed') {
      const entry = auditEntry(source, { event, at: 0, userId: 'ann' })
      entries.push(entry)
      await notices.note(entry)
    },
    render() {
      const row = {
        id: '1',
        kind: 'notice',
        ownerId: 'ann',
        target: 'ann@example.org',
        ids: JSON.stringify(joined),
      }
      return notices.renderMail({
        ...row,
        dueAt: 0,
        at: 0,
        channel: 'mail',
        queue: '',
        tries: 0,
        holder: 1,
        reason: null,
      })
    },
  }
}

test('one mail has all the changes that waited for it', async () => {
  const { note, render } = noticesFor(user)
  for (const event of ['factor-removed', 'password-changed'] as const) await note(event)
  const { to, facts } = (await render()) ?? assert.fail()
  assert.deepEqual(
    [to, facts.count, facts.lines[0], facts.lines[2]],
    [
      'ann@example.org',
      2,
      'A second factor or passkey was removed from your account',
      'Your password was changed',
    ],
  )
})

test('a mail beyond the limit says when the limit allows it', async () => {
  const { note, render } = noticesFor(user, async () => {
    throw new CarillonError('TOO_MANY_REQUESTS', 'Too many', { retryAfter: 1_800 })
  })
  await note('password-changed')
  await assert.rejects(render(), { retryAfter: 1_800 })
})

test('a notice names the device in the language of its reader, and its mail the time', async () => {
  const { note, render, bodies } = noticesFor({ ...user, locale: 'de-CH' })
  await note('password-changed')
  assert.match(
    bodies[0] ?? '',
    /^Ausgelöst mit Firefox auf Linux, von der Adresse 192\.0\.2\.1\. Falls/,
  )
  assert.match((await render())?.facts.lines[1] ?? '', / \(1\. Januar 1970 um 00:00 UTC\)$/)
})
