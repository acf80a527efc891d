// Open lists of an application with its own users are signed out: `auth` has no token or fails, or
// by `signOut`, which sends no request.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestService, type TestService, type TestUser } from '../../tests/support/service.ts'
import {
  createCarillon,
  type InboxList,
  isCarillonError,
  type TokenResult,
} from '../carillon-client.ts'
import { failureOf, until } from '../testing/clients.ts'
import { jwt } from '../testing/jwt.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

async function userWith(count: number): Promise<TestUser> {
  const user = await service.user()
  for (let number = 1; number <= count; number++)
    await service.deliver({ to: user, title: `Number ${number}` })
  return user
}

async function tokenFor(user: TestUser): Promise<string> {
  const { authorization = '' } = await service.issueToken(user)
  return authorization.replace('Bearer ', '')
}

/** The backend answers with `backend.token`. The page can lose the network. */
function pageWith(token: () => TokenResult) {
  const backend = { token, calls: 0 }
  const requests: string[] = []
  const network = { isCut: false }
  const carillon = createCarillon({
    baseUrl: service.url,
    fetch: async (url, init) => {
      requests.push(`${init.method} ${new URL(url).pathname}`)
      if (network.isCut) throw new TypeError('fetch failed')
      return fetch(url, init)
    },
    auth: async () => {
      backend.calls++
      return backend.token()
    },
  })
  return { backend, carillon, network, requests }
}

const stateIs = (list: InboxList, state: string) => until(() => list.getSnapshot().state === state)
const shown = (list: InboxList) => {
  const { state, items, newer, unread, total, hasMore } = list.getSnapshot()
  return { state, titles: [...newer, ...items].map(({ title }) => title), unread, total, hasMore }
}
const empty = { state: 'signed-out', titles: [], unread: 0, total: 0, hasMore: false }

test('if `auth` has no token, lists are signed out, nothing is sent, and `auth` is called once', async () => {
  const { backend, carillon, requests } = pageWith(() => null)
  const list = carillon.inbox.open()
  await stateIs(list, 'signed-out')
  assert.deepEqual(shown(list), empty)
  assert.equal(await carillon.me(), null)
  await carillon.logout()
  const { calls } = backend
  await sleep(100)
  assert.deepEqual([requests, backend.calls], [[], calls])
  list.close()
})

test('after the sign-in to the application, any call that gets a token opens the lists', async () => {
  const token = await tokenFor(await userWith(1))
  const { backend, carillon } = pageWith(() => ({ token: null }))
  const list = carillon.inbox.open()
  await stateIs(list, 'signed-out')
  backend.token = () => ({ token })
  assert.ok(await carillon.me())
  await stateIs(list, 'live')
  assert.deepEqual(shown(list).titles, ['Number 1'])
  list.close()
})

test('a list whose token ends while `auth` has no other one is signed out and empty', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const ann = await userWith(1)
  const real = await tokenFor(ann)
  // The client reads this token's end, and the service gets the real one.
  const first = jwt({ id: 1, endsIn: 30.5, lifetime: 300 })
  const sent: string[] = []
  let calls = 0
  const carillon = createCarillon({
    baseUrl: service.url,
    fetch: (url, { headers, ...init }) => {
      sent.push(new Headers(headers).get('authorization') ?? '')
      return fetch(url, { ...init, headers: { authorization: `Bearer ${real}` } })
    },
    auth: () => (calls++ ? null : first),
  })
  const list = carillon.inbox.open()
  await stateIs(list, 'live')
  await stateIs(list, 'signed-out')
  assert.deepEqual(shown(list), empty)
  assert.deepEqual([...new Set(sent)], [`Bearer ${first}`])
  list.close()
})

for (const { state, code, error } of [
  { state: 'error', code: 'AUTH_FAILED', error: new Error('status 500') },
  { state: 'offline', code: 'NETWORK', error: new TypeError('fetch failed') },
] as const)
  test(`if \`auth\` throws "${error.message}", lists have the state \`${state}\` until there is a token; signOut ends the attempts to connect`, async () => {
    const token = await tokenFor(await userWith(1))
    const { backend, carillon, requests } = pageWith(() => {
      throw error
    })
    const list = carillon.inbox.open()
    await stateIs(list, state)
    assert.ok(isCarillonError(list.getSnapshot().error, code))
    assert.deepEqual(requests, [])
    carillon.signOut()
    const { calls } = backend
    // In the state `offline`, the second attempt follows the first one within 1 s.
    await sleep(state === 'offline' ? 1_100 : 100)
    assert.deepEqual([backend.calls, shown(list)], [calls, empty])
    backend.token = () => token
    await carillon.inbox.counts()
    await stateIs(list, 'live')
    list.close()
  })

test('signOut empties lists at once, ends streams, calls and acts, and sends no request', async () => {
  const token = await tokenFor(await userWith(3))
  const { backend, carillon, requests, network } = pageWith(() => token)
  const list = carillon.inbox.open({ limit: 2 })
  const unread = carillon.inbox.open({ status: 'unread' })
  list.hold(true)
  await Promise.all([stateIs(list, 'live'), stateIs(unread, 'live')])
  const events = carillon.inbox.subscribe()
  await events.next()
  network.isCut = true
  const act = failureOf(list.readAll())
  const call = failureOf(carillon.inbox.list())
  const next = failureOf(events.next())
  backend.token = () => null
  const { calls } = backend
  requests.length = 0
  carillon.signOut()
  for (const one of [list, unread]) assert.deepEqual(shown(one), empty)
  for (const failure of [act, next]) assert.ok(isCarillonError(await failure, 'UNAUTHORIZED'))
  assert.ok(isCarillonError(await call))
  network.isCut = false
  await sleep(300)
  assert.deepEqual([requests, backend.calls], [[], calls])
  for (const one of [list, unread]) assert.deepEqual(shown(one), empty)
  list.close()
  unread.close()
})

test('signOut ends a call that waits for `auth`: a token that comes later is not used', async () => {
  const late = Promise.withResolvers<string>()
  const { carillon, requests } = pageWith(() => late.promise as unknown as TokenResult)
  const list = carillon.inbox.open()
  const call = failureOf(carillon.inbox.counts())
  carillon.signOut()
  assert.ok(isCarillonError(await call, 'UNAUTHORIZED'))
  late.resolve('a.late.token')
  await sleep(50)
  assert.deepEqual([requests, shown(list)], [[], empty])
  list.close()
})

test('after signOut the next user signs in with the same client, and sees nothing of the one before', async () => {
  const ann = await tokenFor(await userWith(2))
  const bob = await userWith(1)
  const { backend, carillon } = pageWith(() => ann)
  const list = carillon.inbox.open()
  await stateIs(list, 'live')
  const initial = await carillon.inbox.list()
  carillon.signOut()
  const another = carillon.inbox.open({ limit: 5, initial })
  assert.deepEqual(shown(another).titles, [], 'the first page of the user before')
  backend.token = () => null
  await sleep(20)
  assert.deepEqual(shown(another), empty)
  const token = await tokenFor(bob)
  backend.token = () => token
  await carillon.me()
  await Promise.all([stateIs(list, 'live'), stateIs(another, 'live')])
  for (const one of [list, another]) assert.deepEqual(shown(one).titles, ['Number 1'])
  await service.deliver({ to: bob, title: 'Live' })
  await until(() => shown(list).unread === 2)
  list.close()
  another.close()
})

test('logout ends the lists, too', async () => {
  const ann = await userWith(1)
  const { authorization = '' } = await service.signIn(ann, 'stateless')
  const { backend, carillon } = pageWith(() => authorization.replace('Bearer ', ''))
  const list = carillon.inbox.open()
  await stateIs(list, 'live')
  backend.token = () => null
  await carillon.logout()
  assert.deepEqual(shown(list), empty)
  await service.refused({ authorization })
  list.close()
})
