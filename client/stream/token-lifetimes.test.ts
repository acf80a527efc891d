// A client renews its token again and again while it follows the stream.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CarillonProcess,
  Folder,
  firstSignInOf,
} from '../../tests/support/processes/carillon-process.ts'
import { idIn, UserOfService } from '../../tests/support/processes/user-of-service.ts'
import { soakTest } from '../../tests/support/soak.ts'
import { type Carillon, createCarillon, type TokenReason } from '../carillon-client.ts'
import { until } from '../testing/clients.ts'
import { jwt } from '../testing/jwt.ts'
import { StreamServer } from '../testing/stream-server.ts'
import { received, subscribe } from '../testing/subscribe.ts'

soakTest(
  'over more than three lifetimes of a token of 6 s, each event arrives once, in order, and no request fails',
  async (t) => {
    using folder = new Folder()
    await using service = await CarillonProcess.ready(folder, {
      env: { CARILLON_TOKEN_LIFETIME: '6s' },
    })
    const { username, password, key } = firstSignInOf(folder)
    const operator = new UserOfService(service.url, { username, password, key })
    const reasons: TokenReason[] = []
    const signIn = () => carillon.login({ username, password, variant: 'stateless' })
    const carillon: Carillon = createCarillon({
      baseUrl: service.url,
      auth: ({ reason, token }) => {
        reasons.push(reason)
        return token ? carillon.renew(token) : signIn()
      },
    })
    const ids: string[] = []
    const leaving = new AbortController()
    const following = (async () => {
      for await (const event of carillon.inbox.subscribe({ since: 0, signal: leaving.signal }))
        if (event.type === 'created') ids.push(event.notification.id)
    })()
    const ended = following.catch((error) => assert.equal(error, leaving.signal.reason))
    await until(() => ids.length > 0)
    const sent = [...ids]
    const endsAt = performance.now() + 20_000
    while (performance.now() < endsAt) {
      sent.push(idIn(await operator.deliver(`No. ${sent.length}`)))
      assert.equal((await carillon.inbox.counts()).total, sent.length)
      await sleep(20)
    }
    await until(() => ids.length >= sent.length)
    await sleep(200)
    leaving.abort()
    await ended
    operator.close()
    assert.deepEqual(ids, sent)
    t.diagnostic(`${sent.length} notifications; calls of auth: ${reasons.join(', ')}`)
    assert.ok(reasons.includes('expiring'))
  },
)

test('a stream is opened again with the renewed token, at its position; both streams have the same events once', async (t) => {
  // If the machine paused for longer than the token has until its renewal, the client would renew it at once.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const tokens: string[] = []
  await using server = await StreamServer.with(
    (stream) => stream.greet(0).notify(1),
    (stream) => stream.greet(1).notify(2),
  )
  const auth = ({ token }: { token?: string | undefined }) => {
    tokens.push(jwt({ id: tokens.length, endsIn: token === undefined ? 30.3 : 300, lifetime: 300 }))
    return tokens.at(-1) ?? ''
  }
  assert.deepEqual(await received(subscribe(server, { auth }), 2), [
    'hello 0',
    'created 1',
    'hello 1',
    'created 2',
  ])
  const sent = server.streams.map(({ since, authorization }) => [since, authorization])
  assert.deepEqual(sent, [
    [null, `Bearer ${tokens[0]}`],
    ['1-5f3a9c1e', `Bearer ${tokens[1]}`],
  ])
  await server.streams[0]?.closed
})

test('if a renewal fails, the stream stays open until the server ends it', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  let renewals = 0
  const failed = Promise.withResolvers<void>()
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(0).notify(1)
    await failed.promise
    await sleep(50)
    stream.notify(2)
  })
  const token = jwt({ id: 1, endsIn: 30.1, lifetime: 300 })
  const auth = ({ reason }: { reason: TokenReason }) => {
    if (reason === 'first') return token
    renewals++
    failed.resolve()
    throw new Error('the sign-in is too long ago')
  }
  assert.deepEqual(await received(subscribe(server, { auth }), 2), [
    'hello 0',
    'created 1',
    'created 2',
  ])
  assert.deepEqual([server.streams.length, renewals], [1, 1])
})
