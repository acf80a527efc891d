import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MailServer } from '../../tests/support/network/mail-server.ts'
import { type Mail, mailer } from './mail.ts'

const withTls = await MailServer.start()
const withoutTls = await MailServer.start({ hasTls: false })
after(() => Promise.all([withTls.stop(), withoutTls.stop()]))

const mail = { to: 'ann@example.org', subject: 'Hi', text: 'Hello', html: '<p>Hello</p>' }

function mailerFor({ port }: MailServer, needsTls: boolean): (mail: Mail) => Promise<void> {
  const server = { host: '127.0.0.1', port, isTls: false, auth: undefined }
  return mailer({ server, sender: () => ({ name: 'Bell', address: 'bell@example.org' }), needsTls })
}

test('a server without TLS, or with a certificate of nobody known, gets no mail', async () => {
  for (const server of [withTls, withoutTls]) {
    await assert.rejects(mailerFor(server, true)(mail))
    assert.equal(server.mails.length, 0)
  }
})

test('a server on this machine needs none, and TLS is used if the server offers it', async () => {
  for (const server of [withTls, withoutTls]) await mailerFor(server, false)(mail)
  assert.deepEqual([withTls.mails[0]?.isTls, withoutTls.mails[0]?.isTls], [true, false])
})

test('many mails at the same time share four connections', async () => {
  const before = withTls.mails.length
  const send = mailerFor(withTls, false)
  await Promise.all(Array.from({ length: 12 }, () => send(mail)))
  const ports = withTls.mails.slice(before).map(({ port }) => port)
  assert.deepEqual([ports.length, new Set(ports).size], [12, 4])
})

test('a mail is sent once, also if the server has closed the connection of the mail before', async () => {
  const before = withTls.mails.length
  const send = mailerFor(withTls, false)
  for (let n = 0; n < 3; n++) {
    await send(mail)
    withTls.disconnect()
  }
  assert.equal(withTls.mails.length, before + 3)
})

test('an address or a subject with a line break adds no header and no recipient', async () => {
  const before = withTls.mails.length
  const broken = 'ann@example.org\r\nBcc: eve@example.org\r\n\r\nHello'
  const send = mailerFor(withTls, false)
  await send({ ...mail, to: broken }).catch(() => {})
  for (const parsed of ['x:eve@example.org;', 'x<eve@example.org>'])
    await send({ ...mail, to: parsed }).catch(() => {})
  await send({ ...mail, subject: `Hi\r\nBcc: eve@example.org\r\n\r\nHello` })
  const mails = withTls.mails.slice(before)
  assert.ok(mails.length > 0)
  for (const { to, raw } of mails) {
    assert.doesNotMatch(raw.split('\r\n\r\n')[0] ?? '', /^bcc:/im)
    assert.ok(!to.some((address) => address.startsWith('eve@')))
  }
})
