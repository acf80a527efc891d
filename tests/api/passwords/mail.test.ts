// A link goes only to the address on record; the answer is one whether there is such a user.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { listOutbox } from '../../../server/reach/outbox.store.ts'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { findUser, updateUser } from '../../../server/users/users.store.ts'
import { MailServer, type ReceivedMail, shownMail } from '../../support/network/mail-server.ts'
import { startTestService, type TestUser } from '../../support/service.ts'

const mailServer = await MailServer.start()
const lines: string[] = []
const log = pino({ level: 'trace', base: null }, { write: (line: string) => lines.push(line) })
const app = await startTestService({ env: { CARILLON_SMTP_URL: mailServer.url }, log })
after(async () => {
  await app.stop()
  await mailServer.stop()
})
// Each test has the mails of an address again.
beforeEach(() => app.pass(24 * 3_600_000))
const newPassword = 'grey heron over the weir'
const forgot = (body: object) => app.post('/password/forgot', body)

let count = 0
async function userWithMail(
  email = `user${++count}@example.org`,
): Promise<TestUser & { email: string }> {
  const user = await app.user()
  await app.store.write(updateUser, { userId: user.id, email })
  return { ...user, email }
}

function linkIn(mail: ReceivedMail): string {
  return (
    /http\S+\/reset#[\w-]{43}/.exec(shownMail(mail).text)?.[0] ??
    assert.fail(`no link in\n${mail.raw}`)
  )
}

async function mailAfter(body: object): Promise<ReceivedMail> {
  const before = mailServer.mails.length
  const response = await forgot(body)
  assert.deepEqual([response.status, response.text], [202, ''])
  return (await mailServer.received(before + 1))[before] as ReceivedMail
}

test('a user gets a link by username or by address, and the link sets the password and verifies the address', async () => {
  const ann = await userWithMail('Ann.Lee@example.org')
  for (const body of [{ username: ann.username.toUpperCase() }, { email: 'ann.lee@EXAMPLE.org' }]) {
    const mail = await mailAfter(body)
    assert.deepEqual(mail.to, ['Ann.Lee@example.org'])
    assert.equal(mail.from, 'carillon@[127.0.0.1]')
    assert.match(mail.raw, /^Auto-Submitted: auto-generated\r$/im)
    assert.match(mail.raw, /^Subject: A new password at Carillon\r$/m)
    // English lines are short and plain, so that even a program that decodes nothing shows the whole link.
    assert.ok(mail.raw.includes(`\r\n${linkIn(mail)}\r\n`))
    assert.ok(shownMail(mail).html.includes(`href=\n"${linkIn(mail)}"`))
    assert.ok(linkIn(mail).startsWith(`${app.url}/reset#`))
  }
  const [older, newer] = mailServer.mails.slice(-2) as [ReceivedMail, ReceivedMail]
  const use = (mail: ReceivedMail) =>
    app.post('/password/reset', { token: linkIn(mail).split('#')[1], newPassword })
  assert.equal((await app.store.read(findUser, ann.id))?.emailVerifiedAt, null)
  assert.equal((await use(older)).status, 204, 'a newer mail takes none away (A20)')
  assert.equal((await app.store.read(findUser, ann.id))?.emailVerifiedAt, app.now())
  assert.equal((await use(newer)).status, 422)
})

test('the mail has the language of the user and the name of the service, in both parts', async () => {
  const name = 'Glocke & Söhne <1>'
  const other = await startTestService({
    env: { CARILLON_SMTP_URL: mailServer.url, CARILLON_NAME: name },
  })
  try {
    const mailFor = async (locale: string | null, acceptLanguage: string) => {
      const user = await other.user()
      await other.store.write(updateUser, {
        userId: user.id,
        email: `${user.username}@example.org`,
        locale,
      })
      await other.post(
        '/password/forgot',
        { username: user.username },
        { 'accept-language': acceptLanguage },
      )
      const received = await mailServer.receivedBy(`${user.username}@example.org`)
      const mail = shownMail(received)
      const url = linkIn(received)
      for (const shown of [user.username, url])
        assert.ok(mail.text.includes(shown) && mail.html.includes(shown), shown)
      assert.ok(
        mail.text.includes(name) && mail.subject.includes(name) && mail.sender.includes(name),
      )
      assert.ok(mail.html.includes('Glocke &amp; Söhne &lt;1&gt;'))
      return mail
    }
    const french = await mailFor('fr-CH', 'en')
    assert.match(french.subject, /^Un nouveau mot de passe pour /)
    assert.match(french.text, /ignorez cet e-mail/)
    assert.match(french.html, /<html lang="fr">[\s\S]*ignorez cet e-mail/)
    // Without a language of the user, that of the browser in which the mail was requested.
    assert.match((await mailFor(null, 'de-AT, en;q=0.5')).subject, /^Ein neues Passwort bei /)
    for (const locale of ['ja', 'en'])
      assert.match((await mailFor(locale, 'ja')).text, /^Someone requested/)
  } finally {
    await other.stop()
  }
})

test('the answer is the same for an unknown user, one without an address, a disabled one, and if the server refuses the mail', async () => {
  const ann = await userWithMail()
  const nobody = await app.user()
  const disabled = await userWithMail()
  await app.store.write(disableUser, { userId: disabled.id, at: app.now() })
  const before = mailServer.mails.length
  const bodies = [
    { username: 'no-such-user' },
    { email: 'nobody@example.org' },
    { username: nobody.username },
    { username: disabled.username },
    { email: disabled.email },
  ]
  mailServer.isRefusing = true
  const answers = new Set<string>()
  for (const body of [{ username: ann.username }, ...bodies]) {
    const { status, text, headers } = await forgot(body)
    answers.add(
      JSON.stringify([status, text, [...headers.keys()].filter((name) => name !== 'date')]),
    )
  }
  assert.equal(answers.size, 1, [...answers].join('\n'))
  const why = async () => (await app.store.read(listOutbox, { limit: 9 }))[0]?.reason ?? ''
  while (!/the mailbox is full/.test(await why())) await sleep(10)
  assert.ok(lines.some((line) => line.includes('send-failed')))
  mailServer.isRefusing = false
  assert.equal((await mailAfter({ username: ann.username })).to[0], ann.email)
  assert.equal(mailServer.mails.length, before + 1)
})

test('users who share an address get one mail each, and an address with a comma is one address', async () => {
  const shared = [
    await userWithMail('family@example.org'),
    await userWithMail('family@example.org'),
  ]
  const before = mailServer.mails.length
  assert.equal((await forgot({ email: 'family@example.org' })).status, 202)
  const mails = (await mailServer.received(before + 2)).slice(before)
  for (const { username } of shared)
    assert.ok(mails.some(({ raw }) => raw.includes(`\r\n${username}\r\n`)))
  const tricky = await userWithMail('eve,ben@example.org')
  const mail = await mailAfter({ username: tricky.username })
  assert.equal(mail.to.length, 1)
})

test('a request without a name or an address, or with both, is refused', async () => {
  for (const body of [
    {},
    { username: 'ann', email: 'a@example.org' },
    { username: 1 },
    { name: 'ann' },
  ])
    assert.equal((await forgot(body)).status, 400)
})

test('mails that wait are sent before the process ends', async () => {
  const other = await startTestService({ env: { CARILLON_SMTP_URL: mailServer.url } })
  const ann = await other.user()
  await other.store.write(updateUser, { userId: ann.id, email: 'late@example.org' })
  assert.equal((await other.post('/password/forgot', { username: ann.username })).status, 202)
  await other.stop()
  assert.ok(mailServer.mails.some(({ to }) => to[0] === 'late@example.org'))
})

test('the user and password of the mail server are used over TLS, with the sender of the setting', async () => {
  const strict = await MailServer.start({ auth: { user: 'bell', password: 'p%ss word' } })
  const env = {
    CARILLON_SMTP_URL: `smtp://bell:p%25ss%20word@127.0.0.1:${strict.port}`,
    CARILLON_MAIL_FROM: 'The Bell <bell@example.org>',
  }
  const other = await startTestService({ env })
  try {
    const ann = await other.user()
    await other.store.write(updateUser, { userId: ann.id, email: 'ann@example.org' })
    await other.post('/password/forgot', { username: ann.username })
    const [mail] = await strict.received(1)
    assert.deepEqual([mail?.user, mail?.isTls, mail?.from], ['bell', true, 'bell@example.org'])
    assert.match(mail?.raw ?? '', /^From: The Bell <bell@example\.org>\r$/m)
  } finally {
    await other.stop()
    await strict.stop()
  }
})
