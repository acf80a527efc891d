// A mail with a link reaches a server on another machine only over TLS with a certificate of that server.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MailServer } from '../../tests/support/network/mail-server.ts'
import { Mailer } from './mail.ts'

const withTls = await MailServer.start()
const withoutTls = await MailServer.start({ hasTls: false })
after(() => Promise.all([withTls.stop(), withoutTls.stop()]))

const mail = { to: 'ann@example.org', subject: 'Hi', text: 'Hello', html: '<p>Hello</p>' }

function mailerFor({ port }: MailServer, needsTls: boolean): Mailer {
  const server = { host: '127.0.0.1', port, isTls: false, auth: undefined }
  return new Mailer({ server, sender: { name: 'Bell', address: 'bell@example.org' }, needsTls })
}

test('a server without TLS, or with a certificate of nobody known, gets no mail', async () => {
  for (const server of [withTls, withoutTls]) {
    await assert.rejects(mailerFor(server, true).send(mail))
    assert.equal(server.mails.length, 0)
  }
})

test('a server on this machine needs none, and TLS is used if the server offers it', async () => {
  for (const server of [withTls, withoutTls]) await mailerFor(server, false).send(mail)
  assert.deepEqual([withTls.mails[0]?.isTls, withoutTls.mails[0]?.isTls], [true, false])
})
