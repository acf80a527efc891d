// A client renews its token while it follows the stream.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TokenReason } from '../carillon-client.ts'
import { jwt } from '../testing/jwt.ts'
import { StreamServer } from '../testing/stream-server.ts'
import { received, subscribe } from '../testing/subscribe.ts'

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
