// A reader gets a mail once, when the reader wants it, and not about what was read.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { newOrderedId } from '../../../server/basics/ids.ts'
import { addToOutbox, listOutbox } from '../../../server/reach/outbox.store.ts'
import { dueReminders } from '../../../server/reach/timers/decision.store.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { MailServer, type ReceivedMail, shownMail } from '../../support/network/mail-server.ts'
import { startTestService, type TestUser } from '../../support/service.ts'

const mailServer = await MailServer.start()
const env = {
  CARILLON_SMTP_URL: mailServer.url,
  CARILLON_MAIL_UNREAD: '15m',
  CARILLON_MAIL_CONTENT: 'titles',
}
const app = await startTestService({
  env: { ...env, CARILLON_PUBLIC_URL: 'https://bell.example.org' },
})
after(async () => {
  await app.stop()
  await mailServer.stop()
})
const minute = 60_000
const { key } = await app.producerKey(['send', 'users'])
const asProducer = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

async function reader(locale: string | null = null): Promise<TestUser & { email: string }> {
  const user = await app.user()
  const email = `${user.username}@example.org`
  await app.store.write(updateUser, { userId: user.id, email, emailVerifiedAt: app.now(), locale })
  return { ...user, email }
}

const sentTo = (email: string) => mailServer.mails.filter(({ to }) => to[0] === email)

/** Every mail that is due after 15 minutes has left. */
async function settled(): Promise<void> {
  app.pass(15 * minute)
  const waits = async () => {
    const reminders = await app.store.read(dueReminders, { channels: ['mail'], at: app.now() })
    return reminders.length + (await app.store.read(listOutbox, { limit: 1 })).length > 0
  }
  while (await waits()) await sleep(5)
}

async function choose(proof: Readonly<Record<string, string>>, change: object): Promise<void> {
  const response = await app.request('/api/me/preferences', {
    method: 'PUT',
    headers: { ...proof, 'content-type': 'application/json' },
    body: JSON.stringify(change),
  })
  assert.equal(response.status, 204, response.text)
}

test('what is unread after 15 minutes is mailed once, by category, and what was read is not', async () => {
  const ann = await reader()
  const proof = await app.issueToken(ann)
  await app.deliver({ to: ann, title: 'Build 1\nfailed', category: 'builds' })
  const [read] = await app.deliver({ to: ann, title: 'Was read', category: 'builds' })
  await app.deliver({ to: ann, title: 'Hello <b>Ann</b>' })
  assert.equal((await app.patch(`/api/notifications/${read}/read`, proof)).status, 204)
  await settled()
  const [mail, ...others] = sentTo(ann.email)
  assert.equal(others.length, 0)
  const { subject, text, html } = shownMail(mail as ReceivedMail)
  assert.equal(subject, '2 unread notifications (Carillon)')
  assert.match(text, /Other: 1\n- Hello <b>Ann<\/b>\n\nbuilds: 1\n- Build 1 failed\n/)
  assert.match(
    html,
    /<li><a href="https:\/\/bell\.example\.org\/inbox#[\w-]{36}">Hello &lt;b&gt;Ann&lt;\/b&gt;<\/a><\/li>/,
  )
  assert.ok(!text.includes('Was read'))
  await settled()
  assert.equal(sentTo(ann.email).length, 1)
})

test('a mail has each title in the language of its reader, or else as the list has it', async () => {
  const ann = await reader('de-AT')
  await app.deliver({ to: ann, title: { en: 'Paid', de: 'Bezahlt "ganz"' } })
  await app.deliver({ to: ann, title: { en: 'Only in English' } })
  await app.deliver({ to: ann, title: 'One text' })
  await settled()
  const [mail] = sentTo(ann.email)
  assert.match(
    shownMail(mail as ReceivedMail).text,
    /- One text\n- Only in English\n- Bezahlt "ganz"\n/,
  )
})

test('a mail about one notification has the thread of its key, and a row that is sent again the same id', async () => {
  const ann = await reader()
  const field = ({ raw }: ReceivedMail, name: string) =>
    new RegExp(`^${name}: <(.+)>\\r$`, 'im').exec(raw)?.[1]
  const [id] = await app.deliver({ to: ann, title: 'One', key: 'order-1' })
  await settled()
  await app.deliver({ to: ann, title: 'One again', key: 'order-1', renotify: true })
  await settled()
  const [first, second] = sentTo(ann.email) as [ReceivedMail, ReceivedMail]
  const thread = field(first, 'References') ?? ''
  assert.match(thread, /^[\w-]{20,}@/)
  assert.equal(field(second, 'References'), thread)
  const messageId = field(second, 'Message-ID') ?? ''
  assert.notEqual(field(first, 'Message-ID'), messageId)
  const row = { id: messageId.split('@')[0] ?? '', kind: 'unread', ownerId: ann.id, target: '' }
  const times = { dueAt: app.now(), at: app.now() }
  const ids = JSON.stringify([id])
  await app.store.write(addToOutbox, { ...row, ...times, channel: 'mail', ids })
  await settled()
  assert.equal(field(sentTo(ann.email)[2] as ReceivedMail, 'Message-ID'), messageId)
  await app.deliver({ to: ann, title: 'Two', key: 'order-2' })
  await app.deliver({ to: ann, title: 'Three', key: 'order-3' })
  await settled()
  assert.equal(field(sentTo(ann.email)[3] as ReceivedMail, 'References'), undefined)
})

test('a user gets ten mails at once, and what is due then waits for the next, five minutes later', async () => {
  const ann = await reader()
  const ids = await Promise.all(
    Array.from({ length: 11 }, async () => (await app.deliver({ to: ann, title: 'Hi' }))[0]),
  )
  const row = { kind: 'unread', ownerId: ann.id, channel: 'mail', target: '' } as const
  const times = { dueAt: app.now(), at: app.now() }
  for (const id of ids) {
    const own = { id: newOrderedId(app.now()), ids: JSON.stringify([id]) }
    await app.store.write(addToOutbox, { ...row, ...own, ...times })
  }
  const rows = async () => {
    const all = await app.store.read(listOutbox, { limit: 100 })
    return all.filter(({ ownerId }) => ownerId === ann.id)
  }
  while ((await rows())[0]?.reason == null) await sleep(5)
  assert.equal(sentTo(ann.email).length, 10)
  const [waiting, ...others] = await rows()
  assert.match(waiting?.reason ?? '', /^Too many mails to this user: 10, then one in five minutes$/)
  assert.deepEqual([others, waiting?.tries], [[], 0])
  app.pass(5 * minute)
  while ((await rows()).length > 0) await sleep(5)
  assert.equal(sentTo(ann.email).length, 11)
})

test('a reader chooses never, another delay, a digest and quiet hours, for one category or for all, and finds the choice', async () => {
  const ann = await reader('de-CH')
  const before = (await app.get('/api/me/preferences', await app.issueToken(ann))).json().data
  assert.deepEqual([before.ways.mail, before.usualMail], ['on', '15m'])
  const proof = await app.issueToken(ann)
  const hours = {
    timeZone: 'Europe/Berlin',
    digestAt: 7,
    quietHours: { from: '22:00', to: '06:30' },
  }
  await choose(proof, {
    mail: 'off',
    ...hours,
    categories: { news: { mail: 'daily' }, chat: { mail: '5m' } },
  })
  const { data } = (await app.get('/api/me/preferences', proof)).json()
  const { mail, timeZone, digestAt, quietHours, categories } = data
  assert.deepEqual({ timeZone, digestAt, quietHours }, hours)
  assert.deepEqual([mail, categories.news.mail, categories.chat.mail], ['off', 'daily', '5m'])
  // It was decided about before, and its mail had to wait.
  const [id] = await app.deliver({ to: ann, title: 'Hi' })
  const row = { id: newOrderedId(app.now()), kind: 'unread', ownerId: ann.id, target: '' } as const
  const times = { dueAt: app.now(), at: app.now() }
  await app.store.write(addToOutbox, { ...row, ...times, channel: 'mail', ids: `["${id}"]` })
  await settled()
  assert.deepEqual(sentTo(ann.email), [])
})

test('without a verified address, and for a disabled user, nothing is sent', async () => {
  const ann = await app.user()
  await app.store.write(updateUser, { userId: ann.id, email: 'unproved@example.org' })
  await app.deliver({ to: ann, title: 'Hi' })
  const ben = await reader()
  await app.deliver({ to: ben, title: 'Hi' })
  const disable = { method: 'PATCH', headers: asProducer, body: JSON.stringify({ disabled: true }) }
  assert.equal((await app.request(`/api/users/${ben.id}`, disable)).status, 200)
  await settled()
  assert.deepEqual([sentTo('unproved@example.org').length, sentTo(ben.email).length], [0, 0])
})

test('a mail program turns the mails of a category off with one click, and a scanner that follows the link does not', async () => {
  const ann = await reader()
  await app.deliver({ to: ann, title: 'Offer', category: 'offers' })
  await settled()
  const { raw } = sentTo(ann.email)[0] as ReceivedMail
  const unfolded = raw.replaceAll(/\r\n[ \t]+/g, ' ')
  assert.match(unfolded, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  const link =
    /^List-Unsubscribe: <https:\/\/bell\.example\.org(\/unsubscribe\?token=[\w.-]+)>\r$/m.exec(
      unfolded,
    )?.[1] ?? ''
  assert.notEqual(link, '', unfolded)
  const proof = await app.issueToken(ann)
  const ruleOf = async () =>
    (await app.get('/api/me/preferences', proof)).json().data.categories.offers.mail
  const page = await app.get(link)
  assert.equal(page.status, 200, page.text)
  assert.equal(await ruleOf(), null)
  const part = (before: string, behind: string) =>
    `--b\r\n${before}Content-Disposition: form-data; name="List-Unsubscribe"\r\n${behind}\r\nOne-Click\r\n--b--\r\n`
  for (const [type, body] of [
    ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
    ['multipart/form-data; boundary=b', part('', '')],
    ['multipart/form-data; boundary=b', part('Content-Type: text/plain\r\n', '')],
    ['multipart/form-data; boundary=b', part('', 'Content-Length: 9\r\n')],
  ] as const) {
    const headers = { 'content-type': type }
    const response = await app.request(link, { method: 'POST', headers, body })
    assert.equal(response.status, 200, response.text)
    assert.equal(await ruleOf(), 'off')
    await choose(proof, { categories: { offers: { mail: null } } })
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const post = (path: string, body: string) => app.request(path, { method: 'POST', headers, body })
  assert.equal((await post(`${link}x`, 'List-Unsubscribe=One-Click')).status, 404)
  const wrong = await post(link, 'List-Unsubscribe=Two-Clicks')
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /must be \\"One-Click\\"/)
})

test('a mail about many categories has no line that a mail server may refuse, and its link turns all off', async () => {
  const ann = await reader()
  const proof = await app.issueToken(ann)
  const names = Array.from({ length: 30 }, (_, n) => `${n} ${'long name '.repeat(5)}`.trim())
  await choose(proof, { categories: { [names[0] ?? '']: { mail: '15m' } } })
  for (const category of names) await app.deliver({ to: ann, title: 'Hi', category })
  await settled()
  const { raw } = sentTo(ann.email)[0] as ReceivedMail
  assert.ok(raw.split('\r\n').every(({ length }) => length <= 998))
  await unsubscribeBy(raw)
  for (const category of names) await app.deliver({ to: ann, title: 'Hi', category })
  await settled()
  assert.equal(sentTo(ann.email).length, 1)
})

async function unsubscribeBy(raw: string): Promise<void> {
  const [link = ''] = /\/unsubscribe\?token=[\w.-]+(?=>)/.exec(raw) ?? []
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = 'List-Unsubscribe=One-Click'
  assert.equal((await app.request(link, { method: 'POST', headers, body })).status, 200)
}

test('a reader who chose for as many categories as possible can turn off the mails of another one', async () => {
  const ann = await reader()
  const chosen = Array.from({ length: 200 }, (_, n) => [`chosen ${n}`, { push: 'off' }])
  await choose(await app.issueToken(ann), { categories: Object.fromEntries(chosen) })
  await app.deliver({ to: ann, title: 'Offer', category: 'offers' })
  await settled()
  await unsubscribeBy((sentTo(ann.email)[0] as ReceivedMail).raw)
  await app.deliver({ to: ann, title: 'Another', category: 'offers' })
  await settled()
  assert.equal(sentTo(ann.email).length, 1)
})

test('the mails of a mandatory category cannot be turned off', async () => {
  const body = JSON.stringify({ name: 'Alarms', mandatory: true, mail: '5m' })
  const declared = await app.request('/api/categories/alarms', {
    method: 'PUT',
    headers: asProducer,
    body,
  })
  assert.equal(declared.status, 204, declared.text)
  const ann = await reader()
  const proof = await app.issueToken(ann)
  const refused = await app.request('/api/me/preferences', {
    method: 'PUT',
    headers: { ...proof, 'content-type': 'application/json' },
    body: JSON.stringify({ categories: { alarms: { mail: 'off' } } }),
  })
  assert.equal(refused.status, 409)
  await app.deliver({ to: ann, title: 'Fire', category: 'alarms' })
  app.pass(5 * minute)
  while (sentTo(ann.email).length === 0) await sleep(5)
  const { text } = shownMail(sentTo(ann.email)[0] as ReceivedMail)
  assert.match(text, /Alarms: 1\n- Fire\n/)
  assert.ok(!text.includes('/unsubscribe'))
})

test('an address that is refused on two days gets no more mails, and its user a notice', async () => {
  const ann = await reader()
  mailServer.unknown.add(ann.email)
  await app.deliver({ to: ann, title: 'One' })
  await settled()
  app.pass(24 * 60 * minute)
  await app.deliver({ to: ann, title: 'Two' })
  await settled()
  type List = { items: { title: string; category: string }[] }
  const notices = async () => {
    const { items } = (await app.get('/api/notifications', await app.issueToken(ann))).json()
      .data as List
    return items.filter(({ category }) => category === 'security').map(({ title }) => title)
  }
  const trail = await app.store.read(listAudit, { userId: ann.id, limit: 9 })
  const [given] = trail.filter(({ event }) => event === 'send-given-up')
  assert.match(String(given?.detail?.reason), /550 no such mailbox/)
  while ((await notices()).length === 0) await sleep(5)
  assert.deepEqual(await notices(), ['E-mails to your address have stopped'])
  mailServer.unknown.clear()
  const { ways } = (await app.get('/api/me/preferences', await app.issueToken(ann))).json().data
  assert.equal(ways.mail, 'refused')
  await app.deliver({ to: ann, title: 'Three' })
  await settled()
  assert.equal(sentTo(ann.email).length, 0)
  const email = `again.${ann.email}`
  await app.store.write(updateUser, { userId: ann.id, email, emailVerifiedAt: app.now() })
  await app.deliver({ to: ann, title: 'Four' })
  await settled()
  assert.equal(sentTo(email).length, 1)
})
