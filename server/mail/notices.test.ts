// When the hour of a user's mails is over, one mail has the changes that waited.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { CarillonError } from '../basics/errors.ts'
import { replaceOperation, stubStore } from '../store/testing/operations.ts'
import { findUser, type User } from '../users/users.store.ts'
import { type ChangesMail, Notices } from './notices.ts'

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
}

test('changes beyond the limit wait, and one mail has them all when it allows the next one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const mails: ChangesMail[] = []
  let isLimited = true
  const store = stubStore()
  replaceOperation(store, findUser, async () => user)
  const notices = new Notices({
    store,
    guesses: {
      async beginNoticeMail() {
        if (isLimited) throw new CarillonError('TOO_MANY_REQUESTS', 'Too many', { retryAfter: 1_800 })
      },
    },
    deliver: async () => true,
    ofNewDevices: true,
    mail: async (mail) => void mails.push(mail),
    pagesUrl: () => 'https://app.example',
    log: pino({ level: 'silent' }),
  })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  for (const event of ['factor-removed', 'password-changed'] as const) {
    await notices.note(auditEntry(serviceSource, { event, at: 0, userId: 'ann' }))
    await settled()
  }
  t.mock.timers.tick(1_799_000)
  await settled()
  assert.equal(mails.length, 0)
  isLimited = false
  t.mock.timers.tick(1_000)
  await settled()
  assert.deepEqual(
    mails.map(({ to, facts: { count, lines } }) => [to, count, lines[0], lines[2]]),
    [['ann@example.org', 2, 'A second factor or passkey was removed from your account', 'Your password was changed']],
  )
  await notices.end()
  assert.equal(mails.length, 1)
})

test('a notice names the device in the language of its reader, and its mail the time', async () => {
  const store = stubStore()
  replaceOperation(store, findUser, async () => ({ ...user, locale: 'de-CH' }))
  const bodies: string[] = []
  const mails: ChangesMail[] = []
  const notices = new Notices({
    store,
    guesses: { beginNoticeMail: async () => {} },
    deliver: async (_user, { body }) => bodies.push(body) > 0,
    ofNewDevices: true,
    mail: async (mail) => void mails.push(mail),
    pagesUrl: () => 'https://app.example',
    log: pino({ level: 'silent' }),
  })
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const source = { ...serviceSource, actor: 'user:ann', address: '192.0.2.1', userAgent }
  await notices.note(auditEntry(source, { event: 'password-changed', at: 0, userId: 'ann' }))
  await new Promise((resolve) => setImmediate(resolve))
  assert.match(bodies[0] ?? '', /^Das geschah mit Firefox auf Linux, von der Adresse 192\.0\.2\.1\. Wenn/)
  assert.match(mails[0]?.facts.lines[1] ?? '', / \(1\. Januar 1970 um 00:00 UTC\)$/)
})
