// A notification that nobody has seen reaches the browsers of its reader by web push: once, encrypted for each, and only as long as the sign-in lasts
// that asked for it (W3). An endpoint leads to known push services only (W1).
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import webPush from 'web-push'
import { listOutbox } from '../../../server/reach/outbox.store.ts'
import { dueReminders } from '../../../server/reach/timers/decision.store.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { type BrowserSubscription, PushService } from '../../support/network/push-service.ts'
import { type Proof, startTestService, variants } from '../../support/service.ts'
import { carefulUser, signInWithCode } from '../../support/sign-in/authenticator.ts'

const pushService = await PushService.start()
const hanging = await PushService.start()
const env = {
  CARILLON_PUSH_HOSTS: `${pushService.host},${hanging.host}`,
  CARILLON_PUBLIC_URL: 'https://bell.example.org',
}
const app = await startTestService({ env })
const open = await startTestService({
  env: { ...env, CARILLON_PUSH_CONTENT: 'on', CARILLON_PUSH_DELAY: '0' },
})
const strict = await startTestService({
  env: { ...env, CARILLON_SECOND_FACTOR: 'required', CARILLON_SECOND_FACTOR_GRACE: '1h' },
})
after(async () => {
  await Promise.all([app.stop(), open.stop(), strict.stop()])
  await Promise.all([pushService.stop(), hanging.stop()])
})
beforeEach(() => {
  pushService.answer = (response) => response.writeHead(201).end()
})

const path = '/api/me/push-subscriptions'

async function subscribe(
  service: typeof app,
  proof: Proof,
  more = {},
): Promise<BrowserSubscription> {
  const subscription = pushService.subscribe()
  const response = await service.post(path, { ...subscription, ...more }, proof)
  assert.equal(response.status, 204, response.text)
  return subscription
}

async function reader(service = app, variant: 'stateful' | 'stateless' = 'stateful') {
  const user = await service.user()
  const proof = await service.signIn(user, variant)
  return { user, proof, browser: await subscribe(service, proof) }
}

/** Resolves when everything that is due after a while has left. */
async function settled(service = app, ms = 10_000): Promise<void> {
  service.pass(ms)
  const waits = async () => {
    const reminders = await service.store.read(dueReminders, {
      channels: ['push'],
      at: service.now(),
    })
    const rows = await service.store.read(listOutbox, { limit: 100 })
    return reminders.length > 0 || rows.some(({ dueAt }) => dueAt <= service.now())
  }
  while (await waits()) await sleep(5)
}

const idOf = async (proof: Proof) => (await app.get(path, proof)).json().data.items[0]?.id

test('what nobody has seen after ten seconds is pushed once, with the number of what is new and no word of others', async () => {
  const { user, proof, browser } = await reader()
  await app.store.write(updateUser, { userId: user.id, locale: 'de' })
  const [seen] = await app.deliver({ to: user, title: 'Seen' })
  const { items } = await app.list(proof)
  await app.post('/api/notifications/seen', { throughSeq: items[0]?.seq }, proof)
  const [first] = await app.deliver({
    to: user,
    title: 'A secret title',
    url: '/orders/1',
    priority: 'low',
  })
  await app.deliver({ to: user, title: 'Another', priority: 'high' })
  await settled(app, 9_999)
  assert.deepEqual(pushService.pushesTo(browser), [])
  await settled(app, 1)
  const [push, ...others] = pushService.pushesTo(browser)
  assert.equal(others.length, 0)
  const { payload, ttl, topic, urgency, claims } = push ?? assert.fail('no push')
  const { notification, ...rest } = payload
  assert.deepEqual(
    [
      notification.title,
      notification.navigate,
      notification.lang,
      notification.app_badge,
      notification.body,
    ],
    ['2 neue Mitteilungen', 'https://bell.example.org/inbox', 'de', '3', undefined],
  )
  const unread = rest.unread
  assert.deepEqual([rest.web_push, rest.app_badge, unread.slice(1)], [8030, 3, [first, seen]])
  assert.deepEqual(notification.data.ids, unread.slice(0, 2))
  assert.deepEqual([ttl, urgency], ['86400', 'high'])
  assert.match(topic, /^[\w-]{1,32}$/)
  assert.deepEqual(
    [claims.aud, claims.sub],
    [`http://${pushService.host}`, 'https://bell.example.org'],
  )
  assert.ok(claims.exp * 1_000 > app.now() && claims.exp * 1_000 <= app.now() + 24 * 3_600_000)
  await settled()
  assert.equal(pushService.pushesTo(browser).length, 1)
})

test('with titles allowed, one notification has its title and its link, and several have three titles at most', async () => {
  const { user, proof } = await reader(open)
  const browser = await subscribe(open, proof, { url: 'https://app.example.org/shop/' })
  const sent = () =>
    pushService.pushesTo(browser).map(({ payload, topic }) => ({ ...payload.notification, topic }))
  const [id] = await open.deliver({
    to: user,
    title: { en: 'Paid "now"', de: 'Bezahlt' },
    url: '/orders/1',
  })
  await settled(open, 0)
  await open.deliver({ to: user, title: 'Other', url: 'https://other.example/x' })
  await settled(open, 0)
  const [one, other] = sent()
  assert.deepEqual(
    [one?.title, one?.navigate, one?.tag, one?.data.ids],
    ['Paid "now"', 'https://app.example.org/orders/1', id, [id]],
  )
  assert.deepEqual([other?.title, other?.navigate], ['Other', 'https://other.example/x'])
  assert.notEqual(one?.topic, other?.topic)
  pushService.answer = (response) => response.writeHead(503, { 'retry-after': '60' }).end()
  for (const title of ['A', 'B', 'C', 'D']) await open.deliver({ to: user, title })
  await settled(open, 0)
  pushService.answer = (response) => response.writeHead(201).end()
  await settled(open, 60_000)
  const last = sent().at(-1)
  assert.deepEqual(
    [last?.title, last?.body, last?.navigate],
    ['6 new notifications', 'D\nC\nB', 'https://app.example.org/shop/'],
  )
})

test('a push never has more than 3,993 bytes, whatever the title and the link are', async () => {
  const { user, proof, browser } = await reader(open)
  for (let n = 0; n < 45; n++) await open.deliver({ to: user, title: 'x' })
  await settled(open, 0)
  await open.deliver({ to: user, title: '\u{1f514}"\\'.repeat(66), url: `/${'%22'.repeat(600)}` })
  await settled(open, 0)
  assert.ok(proof)
  const pushes = pushService.pushesTo(browser)
  assert.ok(pushes.length >= 2)
  for (const { size, encrypted } of pushes)
    assert.ok(size <= 3_993 && encrypted <= 4_096, `${size} bytes`)
})

test('a second implementation makes of the same key and payload what the same browser reads', async () => {
  const { user, browser } = await reader()
  await app.deliver({ to: user, title: 'Hi' })
  await settled()
  const [ours] = pushService.pushesTo(browser)
  const { publicKey, privateKey } = webPush.generateVAPIDKeys()
  const vapidDetails = { subject: 'https://bell.example.org', publicKey, privateKey }
  const options = { vapidDetails, TTL: 86_400, topic: ours?.topic, urgency: 'normal' as const }
  const { headers, body } = webPush.generateRequestDetails(
    browser,
    JSON.stringify(ours?.payload),
    options,
  )
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
  const theirs = pushService.read(new URL(browser.endpoint).pathname, lower, body ?? assert.fail())
  const { publicKey: _, claims, encrypted, ...same } = theirs
  const { publicKey: __, claims: ownClaims, encrypted: ownSize, ...own } = ours ?? assert.fail()
  assert.deepEqual(same, own)
  assert.deepEqual([claims.aud, claims.sub, encrypted], [ownClaims.aud, ownClaims.sub, ownSize])
})

test('what was read before the push leaves is not pushed', async () => {
  const { user, proof, browser } = await reader()
  pushService.answer = (response) => response.writeHead(503).end()
  const [id] = await app.deliver({ to: user, title: 'Hi' })
  await settled()
  assert.equal(pushService.pushesTo(browser).length, 1)
  await app.patch(`/api/notifications/${id}/read`, proof)
  pushService.answer = (response) => response.writeHead(201).end()
  await settled(app, 3_600_000)
  assert.equal(pushService.pushesTo(browser).length, 1)
})

test('a subscription that the push service does not know any more is removed, the next one of its browser has its place, and Retry-After is respected', async () => {
  for (const status of [404, 410]) {
    const user = await app.user()
    const proof = await app.signIn(user, 'stateful')
    const browser = await subscribe(app, proof, { url: 'https://shop.example/orders' })
    pushService.answer = (response) => response.writeHead(status).end()
    await app.deliver({ to: user, title: 'Hi' })
    await settled()
    assert.equal(pushService.pushesTo(browser).length, 1)
    assert.equal(await idOf(proof), undefined, `${status}`)
    pushService.answer = (response) => response.writeHead(201).end()
    const next = pushService.subscribe()
    const renewed = { ...next, replaces: 'ended' }
    const others = await app.signIn(user, 'stateful')
    assert.equal((await app.post(path, renewed, others)).status, 404, 'another sign-in had none')
    assert.equal((await app.post(path, renewed, proof)).status, 204)
    assert.equal((await app.post(path, renewed, proof)).status, 404, 'the place is taken')
    const [item] = (await app.get(path, proof)).json().data.items
    assert.deepEqual([item.url, item.current], ['https://shop.example/orders', true])
    await app.deliver({ to: user, title: 'Hi' })
    await settled()
    assert.equal(pushService.pushesTo(next).length, 1)
  }
  const { user, browser } = await reader()
  pushService.answer = (response) => response.writeHead(429, { 'retry-after': '7200' }).end()
  await app.deliver({ to: user, title: 'Hi' })
  await settled()
  await settled(app, 7_199_000)
  assert.equal(pushService.pushesTo(browser).length, 1)
  pushService.answer = (response) => response.writeHead(201).end()
  await settled(app, 1_000)
  assert.equal(pushService.pushesTo(browser).length, 2)
})

test('a push service that answers 10 MB, redirects, or refuses for good stops nothing else', async () => {
  const answers: [string, typeof pushService.answer][] = [
    ['10 MB', (response) => response.writeHead(500).end(Buffer.alloc(10_000_000))],
    [
      'redirect',
      (response) =>
        response.writeHead(307, { location: `http://${pushService.host}/push/other` }).end(),
    ],
    ['refused', (response) => response.writeHead(403).end()],
  ]
  for (const [name, answer] of answers) {
    const { user, browser } = await reader()
    pushService.answer = answer
    const before = pushService.requests
    await app.deliver({ to: user, title: 'Hi' })
    await settled()
    assert.equal(pushService.pushesTo(browser).length, 1, name)
    assert.equal(pushService.requests, before + 1, name)
    pushService.answer = (response) => response.writeHead(201).end()
    const other = await reader()
    await app.deliver({ to: other.user, title: 'Hi' })
    await settled()
    assert.equal(pushService.pushesTo(other.browser).length, 1, name)
  }
})

test('a push service that hangs has four requests, and holds up no other', async () => {
  const answers: (() => void)[] = []
  hanging.answer = (response) => answers.push(() => response.writeHead(201).end())
  const { user: slow, proof } = await reader()
  for (let n = 0; n < 6; n++) await app.post(path, hanging.subscribe(), proof)
  const { user, browser } = await reader()
  await app.deliver({ to: slow, title: 'Hi' })
  app.pass(10_000)
  await hanging.requested(4)
  await app.deliver({ to: user, title: 'Hi' })
  app.pass(10_000)
  while (pushService.pushesTo(browser).length === 0) await sleep(5)
  assert.equal(hanging.requests, 4)
  hanging.answer = (response) => response.writeHead(201).end()
  for (const answer of answers) answer()
  await hanging.requested(6)
})

test('a subscription ends with its sign-in, so a stolen session gets no push after its owner ended it (W3)', async () => {
  for (const variant of variants) {
    const user = await app.user()
    const stolen = await app.signIn(user, variant)
    const browser = await subscribe(app, stolen)
    await app.deliver({ to: user, title: 'Hi' })
    await app.post('/logout', undefined, stolen)
    await settled()
    assert.equal(pushService.pushesTo(browser).length, 0, variant)
    const refused = await app.post(path, pushService.subscribe(), stolen)
    assert.equal(refused.status, 401, variant)
  }
})

test('no push outlives the grace of the second factor, but that of an application’s token (A27)', async () => {
  const pushed = (those: BrowserSubscription[]) =>
    those.map((browser) => pushService.pushesTo(browser).length)
  const user = await carefulUser(strict)
  const plain = await reader(strict)
  const careful = await subscribe(strict, await signInWithCode(strict, user, 'stateful'))
  const issued = await subscribe(strict, await strict.issueToken(plain.user))
  const browsers = [plain.browser, issued, careful]
  await strict.deliver({ to: plain.user, title: 'Hi' })
  await strict.deliver({ to: user, title: 'Hi' })
  await settled(strict)
  assert.deepEqual(pushed(browsers), [1, 1, 1])
  strict.pass(3_600_000)
  await strict.deliver({ to: plain.user, title: 'Hi' })
  await strict.deliver({ to: user, title: 'Hi' })
  await settled(strict)
  assert.deepEqual(pushed(browsers), [1, 2, 2])
})

test('a user lists and removes the own ones, and a token of an application only those of applications', async () => {
  const { user, proof, browser } = await reader()
  const { publicKey, items } = (await app.get(path, proof)).json().data
  assert.equal(Buffer.from(publicKey, 'base64url').length, 65)
  const sessions = (await app.get('/api/me/sessions', proof)).json().data.items
  assert.deepEqual(
    items.map(({ current, sessionId }: { current: boolean; sessionId: string }) => [
      current,
      sessionId,
    ]),
    [[true, sessions[0].id]],
  )
  assert.ok(!JSON.stringify(items).includes(browser.endpoint))
  const token = await app.issueToken(user)
  await subscribe(app, token)
  const ofToken = (await app.get(path, token)).json().data.items
  assert.deepEqual([ofToken.length, ofToken[0].current, ofToken[0].sessionId], [1, true, null])
  assert.equal((await app.get(path, proof)).json().data.items.length, 2)
  const other = await reader()
  for (const [who, status] of [
    [other.proof, 404],
    [token, 404],
    [proof, 204],
    [proof, 404],
  ] as const)
    assert.equal((await app.delete(`${path}/${items[0].id}`, who)).status, status)
  assert.equal((await app.delete(`${path}/${ofToken[0].id}`, token)).status, 204)
})

test('a 21st subscription is refused, and the same endpoint again is none', async () => {
  const { proof, browser } = await reader()
  for (let n = 1; n < 20; n++) await subscribe(app, proof)
  assert.equal((await app.post(path, browser, proof)).status, 204)
  const refused = await app.post(path, pushService.subscribe(), proof)
  assert.equal(refused.status, 409)
  assert.match(refused.json().error.message, /20 push subscriptions/)
})

test('a subscription takes the place of another one of the same sign-in, and of no other', async () => {
  const { user, proof, browser } = await reader()
  const [before] = (await app.get(path, proof)).json().data.items
  const next = pushService.subscribe()
  const elsewhere = await app.signIn(user, 'stateful')
  const others = await reader()
  for (const other of [elsewhere, others.proof, await app.issueToken(user)])
    assert.equal((await app.post(path, { ...next, replaces: before.id }, other)).status, 404)
  await subscribe(app, proof, { ...next, url: before.url, replaces: before.id })
  const { items } = (await app.get(path, proof)).json().data
  assert.deepEqual([items.length, items[0].url], [1, before.url])
  assert.equal((await app.post(path, { ...browser, replaces: before.id }, proof)).status, 404)
})

test('an endpoint leads to no other service, in whichever form it is written (W1)', async () => {
  const proof = await app.signIn(await app.user(), 'stateful')
  const { keys } = pushService.subscribe()
  const port = pushService.host.split(':')[1]
  const hosts =
    '127.0.0.1 localhost 2130706433 0x7f000001 0177.0.0.1 127.1 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] 0.0.0.0 [::] 0 169.254.169.254 10.0.0.1 192.168.0.1 bell.example.org metadata.google.internal fcm.googleapis.com.example.org fcm.googleapis.com. notify.windows.com push.apple.com evilpush.apple.com xfcm.googleapis.com'
  const forms = [
    ...hosts
      .split(' ')
      .flatMap((host) => [`https://${host}/x`, `http://${host}/x`, `https://${host}:8443/x`]),
    'https://user@fcm.googleapis.com/x',
    'https://fcm.googleapis.com:444/x',
    'http://fcm.googleapis.com/x',
    'https://fcm.googleapis.com@127.0.0.1/x',
    `https://fcm.googleapis.com#@127.0.0.1:${port}/x`.replace('#', '\\'),
    `http://127.0.0.1:${Number(port) + 1}/x`,
    'file:///etc/passwd',
    'ftp://fcm.googleapis.com/x',
    'fcm.googleapis.com/x',
    '',
  ]
  const before = pushService.requests
  for (const endpoint of forms) {
    const response = await app.post(path, { endpoint, keys }, proof)
    assert.equal(response.status, 400, `${endpoint}: ${response.text}`)
  }
  assert.ok(forms.length >= 60)
  assert.equal(pushService.requests, before)
  for (const endpoint of [
    'https://fcm.googleapis.com/fcm/send/x',
    'https://updates.push.services.mozilla.com/wpush/v2/x',
    // Microsoft's have up to 1,024 characters.
    `https://db5p.notify.windows.com/w/?token=${'x'.repeat(983)}`,
    'https://web.push.apple.com/x',
  ])
    assert.equal((await app.post(path, { endpoint, keys }, proof)).status, 204, endpoint)
})

test('keys that no browser has, and a page that is none, are refused with what would be right', async () => {
  const proof = await app.signIn(await app.user(), 'stateful')
  const { endpoint, keys } = pushService.subscribe()
  const zeros = Buffer.alloc(65, 4).toString('base64url')
  const bodies = [
    { endpoint, keys: { ...keys, p256dh: zeros } },
    { endpoint, keys: { ...keys, p256dh: keys.p256dh.slice(0, 40) } },
    { endpoint, keys: { ...keys, auth: 'short' } },
    { endpoint, keys, url: 'javascript:alert(1)' },
    { endpoint, keys, url: '/inbox' },
    { endpoint, keys, other: 1 },
    { endpoint: `${endpoint}${'x'.repeat(2_000)}`, keys },
  ]
  for (const body of bodies) {
    const response = await app.post(path, body, proof)
    assert.equal(response.status, 400, JSON.stringify(body))
    assert.ok(response.json().error.details[0].reason)
  }
})

test('a reader turns pushes off, for all and for a category, but not for a mandatory one', async () => {
  const { user, proof, browser } = await reader()
  const { key } = await app.producerKey()
  await app.request('/api/categories/must', {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Must', mandatory: true }),
  })
  const choose = (change: object) =>
    app.request('/api/me/preferences', {
      method: 'PUT',
      headers: { ...proof, 'content-type': 'application/json' },
      body: JSON.stringify(change),
    })
  const refused = await choose({ categories: { must: { push: 'off' } } })
  assert.deepEqual([refused.status, refused.json().error.code], [409, 'CONFLICT'])
  assert.equal((await choose({ push: 'off', categories: { wanted: { push: 'on' } } })).status, 204)
  const { push, categories } = (await app.get('/api/me/preferences', proof)).json().data
  assert.deepEqual([push, categories.wanted.push, categories.must.push], ['off', 'on', null])
  // Also while the push waits.
  pushService.answer = (response) => response.writeHead(429, { 'retry-after': '120' }).end()
  await app.deliver({ to: user, title: 'Hi', category: 'wanted' })
  await settled()
  assert.equal((await choose({ categories: { wanted: { push: 'off' } } })).status, 204)
  await settled(app, 120_000)
  assert.equal(pushService.pushesTo(browser).length, 1)
})
