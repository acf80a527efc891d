import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { EventReader } from '../../support/event-source/event-source.ts'
import { type Proof, startTestService, type TestUser } from '../../support/service.ts'

const hosts = 'images.example.org,localhost'
const app = await startTestService({ env: { CARILLON_IMAGE_HOSTS: hosts } })
const imageless = await startTestService()
after(() => Promise.all([app.stop(), imageless.stop()]))
const ann = await app.user('ann')
const anns = await app.signIn(ann, 'stateless')
const { key } = await app.producerKey(['send', 'users'])
const authorization = `Bearer ${key}`

const send = (content: object, to: TestUser = ann) =>
  app.post(
    '/api/notifications',
    { recipients: [{ userId: to.id }], title: 'Hi', ...content },
    { authorization },
  )
const setLocale = (path: string, proof: Proof, locale: string | null) =>
  app.request(path, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...proof },
    body: JSON.stringify({ locale }),
  })
const newest = async (proof = anns) =>
  (await app.list(proof, '?limit=1')).items[0] as unknown as Record<string, unknown>
const later = (ms: number) => new Date(app.now() + ms).toISOString()
const x = (length: number) => 'x'.repeat(length)
const action = { label: 'Open', url: '/open' }
const texts = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`de-x-${n}`, 'Hallo']))

test('a notification has what its delivery said, and the same in a list, alone, in changes and after a replacement', async () => {
  const look = {
    actor: { name: 'Ben', imageUrl: 'https://images.example.org/ben.png' },
    icon: 'money',
    actions: [action, { label: 'Pay', url: 'https://shop.example/pay' }],
    format: 'markdown',
    priority: 'high',
    expiresAt: later(60_000),
  }
  const body = '**Paid** [here](https://shop.example/7) <b>`x`</b>'
  for (const more of [{}, { key: 'k' }, { key: 'k' }]) {
    assert.equal((await send({ ...look, ...more, body })).status, 201)
    const found = await newest()
    for (const [member, value] of Object.entries({ ...look, body }))
      assert.deepEqual(found[member], value, member)
    assert.deepEqual((await app.get(`/api/notifications/${found.id}`, anns)).json().data, found)
    const { created, changed } = (await app.get('/api/notifications/changes?since=0', anns)).json()
      .data
    assert.deepEqual(
      [...created, ...changed].find(({ id }) => id === found.id),
      found,
    )
  }
})

const accepted: [string, object][] = [
  ['a text that is no Markdown', { body: '[x](javascript:alert)', format: 'text' }],
  [
    'code and escaped links in Markdown',
    { body: '`[x](y)` \\[x](/y) ```\n[a](b)\n``` [x](/y)', format: 'markdown' },
  ],
  ['an actor whose image is null', { actor: { name: 'Ben', imageUrl: null } }],
  [
    'an image of the page itself',
    { actor: { name: 'Ben', imageUrl: '/ben.png' }, icon: { imageUrl: '/a/b.svg' } },
  ],
  [
    'an image of an allowed host, with the usual port',
    { icon: { imageUrl: 'http://LOCALHOST:80/a.png' } },
  ],
  [
    'each null as absent',
    {
      actor: null,
      icon: null,
      actions: null,
      format: null,
      priority: null,
      expiresAt: null,
      body: null,
    },
  ],
  ['the last moment of the year 9999', { expiresAt: '9999-12-31T23:59:59.999Z' }],
  ['a time with another offset', { expiresAt: later(7_200_000).replace('Z', '+01:00') }],
  [
    'a title of 200 and a body of 4,000 in 20 languages',
    { title: { ...texts(19), de: x(200) }, body: { en: x(4_000) } },
  ],
]
for (const [name, content] of accepted)
  test(`accepts ${name}`, async () => {
    const response = await send(content)
    assert.equal(response.status, 201, response.text)
  })

const refused: [string, object, string, RegExp][] = [
  [
    'an image of another host',
    { actor: { name: 'Ben', imageUrl: 'https://evil.example/a' } },
    'actor.imageUrl',
    /CARILLON_IMAGE_HOSTS \(images.example.org, localhost\)/,
  ],
  [
    'an image of a host below an allowed one',
    { icon: { imageUrl: 'https://a.images.example.org/a' } },
    'icon.imageUrl',
    /CARILLON_IMAGE_HOSTS/,
  ],
  [
    'an image of an allowed host at another port',
    { icon: { imageUrl: 'https://images.example.org:8443/a' } },
    'icon.imageUrl',
    /must have no port/,
  ],
  [
    'an image by a relative path',
    { icon: { imageUrl: 'a/b.svg' } },
    'icon.imageUrl',
    /write \/a\/b\.svg/,
  ],
  [
    'a link by a relative path',
    { url: 'orders/1' },
    'url',
    /a path that begins with \/: write \/orders\/1$/,
  ],
  ['a link with a user name', { url: 'https://ann@shop.example/' }, 'url', /without a user name/],
  ['a language by its name', { title: { english: 'Hi' } }, 'title.english', /such as en or de-CH/],
  [
    'a link of a Markdown body with a user name (C8)',
    { format: 'markdown', body: 'See [the order](https://bank.example@evil.example/).' },
    'body',
    /^has the link "https:\/\/bank\.example@evil\.example\/", which must be .* without a user name/,
  ],
  [
    'a link of a Markdown body in one language (C8)',
    { format: 'markdown', body: { en: '[fine](/x)', de: '**[so](javascript:alert)**' } },
    'body.de',
    /^has the link "javascript:alert", which must be an http or https URL/,
  ],
  [
    'a category with a line break',
    { category: 'builds\nof main' },
    'category',
    /must have no line breaks and no other control characters/,
  ],
  [
    'a category with the name of the prototype',
    { category: '__proto__' },
    'category',
    /must not be __proto__/,
  ],
  [
    'an image by javascript:',
    { icon: { imageUrl: 'javascript:alert(1)' } },
    'icon.imageUrl',
    /http or https/,
  ],
  [
    'an image by //host',
    { icon: { imageUrl: '//images.example.org/a' } },
    'icon.imageUrl',
    /http or https/,
  ],
  [
    'an icon of an unknown name',
    { icon: 'rocket' },
    'icon',
    /one of: bell, check, info, warning, error, message, user, calendar, money, link$/,
  ],
  ['an icon without its image', { icon: {} }, 'icon.imageUrl', /missing/],
  [
    'an action that is a script',
    { actions: [action, { label: 'x', url: 'javascript:0' }] },
    'actions.1.url',
    /http or https/,
  ],
  ['an end in the past', { expiresAt: later(-1) }, 'expiresAt', /in the future/],
  ['an end at this moment', { expiresAt: later(0) }, 'expiresAt', /in the future/],
  ['an end that is no date', { expiresAt: '2027-02-30T00:00:00Z' }, 'expiresAt', /a time such as/],
  [
    'an end in the year 10000',
    { expiresAt: '9999-12-31T23:59:59-05:00' },
    'expiresAt',
    /before the year 10000/,
  ],
  [
    'a text in a language that is none',
    { body: { 'no language': 'x' } },
    'body.no language',
    /language tag \(BCP 47\)/,
  ],
  [
    'a language tag in another spelling',
    { title: { 'de-ch': 'x' } },
    'title.de-ch',
    /written as de-CH/,
  ],
]
for (const [name, content, field, reason] of refused)
  test(`refuses ${name}: names ${field} with a reason, and sends nothing`, async () => {
    const version = await app.database.version()
    const response = await send(content)
    assert.equal(response.status, 400, response.text)
    const [fault, ...others] = response.json().error.details
    assert.deepEqual(others, [])
    assert.equal(fault.field, field)
    assert.match(fault.reason, reason)
    assert.equal(await app.database.version(), version)
  })

test('without CARILLON_IMAGE_HOSTS every image of another host is refused, with the name of the setting', async () => {
  const user = await imageless.user('ann')
  const { key: other } = await imageless.producerKey()
  const of = (imageUrl: string) =>
    imageless.post(
      '/api/notifications',
      { recipients: [{ userId: user.id }], title: 'Hi', icon: { imageUrl } },
      { authorization: `Bearer ${other}` },
    )
  assert.equal((await of('/a.png')).status, 201)
  const response = await of('https://images.example.org/a.png')
  assert.match(response.json().error.details[0].reason, /CARILLON_IMAGE_HOSTS \(none\)/)
})

test('the inbox page may load images of the allowed hosts, and no other page', async () => {
  const { url } = app
  const cookie = await app.signIn(ann, 'stateful')
  const policyOf = async (path: string) =>
    (await fetch(url + path, { headers: cookie })).headers.get('content-security-policy')
  assert.match((await policyOf('/inbox')) ?? '', /img-src 'self' images\.example\.org localhost;/)
  assert.match((await policyOf('/account')) ?? '', /img-src 'self';/)
})

test('a stream has the texts of the reader, live and when it resumes, and a resync after a change of the language', async () => {
  const user = await app.user()
  const proof = await app.signIn(user, 'stateless')
  await setLocale('/api/me', proof, 'de-AT')
  using reader = await EventReader.open(app.url, { headers: proof })
  await reader.next('hello')
  await send({ title: { en: 'Hello', de: 'Hallo' } }, user)
  const { data } = await reader.next('created')
  assert.equal(data.notification.title, 'Hallo')
  assert.equal(data.notification.texts, undefined)
  using again = await EventReader.open(app.url, { headers: { ...proof, 'last-event-id': '0' } })
  await again.next('hello')
  assert.equal((await again.next('created')).data.notification.title, 'Hallo')
  await setLocale('/api/me', proof, 'en')
  for (const one of [reader, again])
    assert.equal((await one.next('resync')).data.version, data.version + 1)
  await send({ title: { en: 'Hello', de: 'Hallo' } }, user)
  assert.equal((await reader.next('created')).data.notification.title, 'Hello')
})
