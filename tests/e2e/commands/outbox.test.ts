// `carillon mail test`, `webhook test` and `outbox`: what was accepted, why not, and what waits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MailServer } from '../../support/network/mail-server.ts'
import {
  CarillonProcess,
  carillon,
  carillonJson,
  Folder,
} from '../../support/processes/carillon-process.ts'

test('an operator learns whether a mail or event is accepted, refused now, or for good, and what waits', async (t) => {
  using folder = new Folder()
  const mailServer = await MailServer.start({ hasTls: false })
  t.after(() => mailServer.stop())
  const env = { CARILLON_SMTP_URL: mailServer.url, CARILLON_OUTBOUND_PRIVATE: 'on' }
  await using _service = await CarillonProcess.ready(folder, { env })
  const mail = ['mail', 'test', 'ann@example.org']
  assert.deepEqual(await carillonJson(folder, mail), { sent: true })
  mailServer.unknown.add('ann@example.org')
  const refused = await carillon(folder, mail)
  assert.match(refused.stderr, /refused the mail: .*550 no such mailbox/)
  mailServer.unknown.clear()
  mailServer.isRefusing = true
  const later = await carillon(folder, mail)
  assert.match(later.stderr, /did not accept the mail: .*the mailbox is full/)
  const added = ['webhook', 'add', '--event', 'user.erased', '--url', 'http://127.0.0.1:9/']
  const { id } = await carillonJson(folder, added, { env })
  const event = await carillon(folder, ['webhook', 'test', id])
  assert.match(event.stderr, /was not accepted: refused/)
  assert.deepEqual([refused.status, later.status, event.status], [1, 1, 1])
  const { stdout } = await carillon(folder, ['doctor'])
  assert.match(stdout, /mails, pushes and events that wait: 2, the oldest for 0 min/)
  // The pauses before the next tries are random, and so is their order.
  const waiting: { id: string; kind: string; tries: number }[] = await carillonJson(folder, [
    'outbox',
    'list',
  ])
  const row = waiting.find(({ kind }) => kind === 'test') ?? assert.fail('the mail does not wait')
  assert.ok(row.tries >= 1)
  mailServer.isRefusing = false
  assert.deepEqual(await carillonJson(folder, ['outbox', 'retry', row.id]), { retried: 1 })
  await mailServer.received(2)
})
