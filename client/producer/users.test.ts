import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestService, type TestService } from '../../tests/support/service.ts'
import {
  createCarillon,
  createProducer,
  isCarillonError,
  type Producer,
} from '../carillon-client.ts'
import { failureOf } from '../testing/clients.ts'

let service: TestService
let producer: Producer
before(async () => {
  service = await startTestService()
  const { key } = await service.producerKey(['send', 'users'])
  producer = createProducer({ baseUrl: service.url, key })
})
after(() => service.stop())

test('an application creates, changes, finds, lists and erases its users', async () => {
  const kim = await producer.users.put('customer-42', { displayName: 'Kim', locale: 'de-CH' })
  assert.deepEqual(
    [kim.externalId, kim.displayName, kim.username, kim.disabled],
    ['customer-42', 'Kim', null, false],
  )
  assert.deepEqual(await producer.users.put('customer-42'), kim)
  assert.deepEqual(await producer.users.get({ id: kim.id }), kim)
  const changed = await producer.users.update(
    { externalId: 'customer-42' },
    { displayName: null, disabled: true },
  )
  assert.deepEqual([changed.displayName, changed.locale, changed.disabled], [null, 'de-CH', true])
  assert.equal((await producer.users.update({ id: kim.id }, { disabled: false })).disabled, false)
  // An id begins with the time.
  service.pass(1)
  const results = await producer.users.putAll([
    { externalId: 'customer-42', email: 'kim@shop.example' },
    { externalId: 'customer-43' },
  ])
  assert.deepEqual(
    results.map(({ status, user }) => [status, user.email]),
    [
      ['updated', 'kim@shop.example'],
      ['created', null],
    ],
  )
  service.pass(1)
  const lee = await producer.users.create({
    username: 'lee',
    password: 'quiet lantern above the harbour',
  })
  const first = await producer.users.list({ limit: 2 })
  const second = await producer.users.list({ limit: 2, after: first.next ?? '' })
  assert.deepEqual(
    [...first.items, ...second.items].map(({ id }) => id),
    [kim.id, results[1]?.user.id, lee.id],
  )
  assert.equal(second.next, null)
  assert.deepEqual((await producer.users.list({ search: 'kim@' })).items[0]?.id, kim.id)
  for (const name of [{ externalId: 'customer-42' }, { id: lee.id }]) {
    await producer.users.delete(name)
    assert.ok(isCarillonError(await failureOf(producer.users.get(name)), 'NOT_FOUND'))
  }
})

test('each external id is one user, with any characters that a path needs escaped', async () => {
  const ids = [
    'a/tokens',
    'a',
    'aB',
    'Ab',
    '100%',
    '%2e%2e',
    'x?y#z',
    'ö 🔔',
    "it's (*!)~",
    'a+b&c=d',
    '..a',
    'external',
  ]
  const created = []
  for (const id of ids) created.push(await producer.users.put(id))
  for (const [index, externalId] of ids.entries()) {
    assert.equal(created[index]?.externalId, externalId)
    assert.deepEqual(await producer.users.get({ externalId }), created[index])
  }
  assert.equal(new Set(created.map(({ id }) => id)).size, ids.length)
})

test('a name that would make the path that of another route is refused without a request', async () => {
  const { users } = createProducer({
    baseUrl: service.url,
    key: 'x',
    fetch: () => assert.fail('a request was sent'),
  })
  for (const externalId of ['', '.', '..'])
    for (const call of [
      () => users.put(externalId),
      () => users.get({ externalId }),
      () => users.issueToken({ externalId }),
    ])
      assert.ok(isCarillonError(await failureOf(call()), 'INVALID_REQUEST'), externalId)
  for (const id of ['', '..', 'external', '../notifications'])
    for (const call of [
      () => users.get({ id }),
      () => users.revokeTokens({ id }),
      () => users.signOut({ id }),
    ])
      assert.ok(isCarillonError(await failureOf(call()), 'NOT_FOUND'), id)
})

test('a page uses issued tokens: `auth` gets one from the application, and revoked ones are replaced', async () => {
  const { id } = await producer.users.put('customer-44')
  let issued = 0
  const carillon = createCarillon({
    baseUrl: service.url,
    auth: () => {
      issued++
      return producer.users.issueToken({ externalId: 'customer-44' }, { lifetime: 600 })
    },
  })
  assert.equal((await carillon.me())?.user.id, id)
  assert.ok(isCarillonError(await failureOf(carillon.restricted()), 'FORBIDDEN'))
  assert.equal(issued, 1)
  await producer.users.revokeTokens({ id })
  assert.equal((await carillon.inbox.list()).total, 0)
  assert.equal(issued, 2)
  await producer.users.signOut({ id })
  assert.equal((await carillon.inbox.list()).total, 0)
  assert.equal(issued, 3)
})

test('an application makes links for its users, by external id and by id', async () => {
  const { links, users } = producer
  const email = 'lou@shop.example'
  const lou = await users.create({ username: 'lou', externalId: 'customer-45', email })
  const wanted = {
    purpose: 'invite',
    returnTo: '/inbox',
    lifetime: 3_600,
    mailedTo: email,
  } as const
  const invitation = await links.create({ externalId: 'customer-45' }, wanted)
  assert.equal(Date.parse(invitation.expiresAt), service.now() + 3_600_000)
  assert.match(invitation.url, /\/invite#[\w-]{43}$/)
  assert.match((await links.create({ id: lou.id }, { purpose: 'reset' })).url, /\/reset#[\w-]{43}$/)
})

test('a session gets a token for a backend of the application', async () => {
  const ann = await service.user()
  const { cookie = '' } = await service.signIn(ann, 'stateful')
  const withCookie = (url: string, init: RequestInit) => {
    const headers = new Headers(init.headers)
    headers.set('cookie', cookie)
    return fetch(url, { ...init, headers })
  }
  const { token } = await createCarillon({ baseUrl: service.url, fetch: withCookie }).token()
  assert.equal(
    (await createCarillon({ baseUrl: service.url, auth: () => token }).me())?.user.id,
    ann.id,
  )
})
