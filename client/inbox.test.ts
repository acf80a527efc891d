import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestService, type TestService } from '../tests/support/service.ts'
import { type Changes, createCarillon, isCarillonError } from './carillon-client.ts'
import { failureOf, signedIn } from './testing/clients.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

async function deliver(
  to: Awaited<ReturnType<TestService['user']>>,
  count: number,
  category?: string,
) {
  const ids: string[] = []
  for (let i = 1; i <= count; i++)
    ids.push(
      ...(await service.deliver({ to, title: `Number ${i}`, ...(category && { category }) })),
    )
  return ids
}

test('iterate yields all notifications, newest first, and requests a page only when the loop needs it', async () => {
  const ann = await service.user()
  const { inbox } = await signedIn(service, ann, 'stateless')
  const ids = await deliver(ann, 7)
  const all = await Array.fromAsync(inbox.iterate({ limit: 3 }), ({ id }) => id)
  assert.deepEqual(all, ids.toReversed())
  await inbox.read(ids[2] as string)
  const unread = await Array.fromAsync(
    inbox.iterate({ limit: 2, status: 'unread' }),
    ({ id }) => id,
  )
  assert.deepEqual(unread, ids.filter((id) => id !== ids[2]).toReversed())
  const read = await Array.fromAsync(inbox.iterate({ limit: 2, status: 'read' }), ({ id }) => id)
  assert.deepEqual(read, [ids[2]])
  for await (const { id } of inbox.iterate({ limit: 2 })) {
    assert.equal(id, ids[6])
    await deliver(ann, 1)
    break
  }
})

test('changes with wait returns after a change, and an abort ends the wait', async () => {
  const ann = await service.user()
  const { inbox } = await signedIn(service, ann, 'stateless')
  const waiting = inbox.changes({ since: 0, wait: 20 })
  await deliver(ann, 1)
  assert.equal(known(await waiting).created.length, 1)
  const controller = new AbortController()
  const held = inbox.changes({ since: 1, wait: 20, signal: controller.signal })
  setTimeout(() => controller.abort(), 50)
  const from = performance.now()
  assert.equal(((await failureOf(held)) as Error).name, 'AbortError')
  assert.ok(performance.now() - from < 15_000)
})

test('get and read throw NOT_FOUND without a request for a text that is not a UUID, because it could be another route', async () => {
  const { inbox } = createCarillon({
    baseUrl: service.url,
    fetch: () => assert.fail('the client sent a request'),
  })
  for (const id of ['', '.', '..', 'stream', 'counts', 'changes', 'read-all', 'nothing', '\ud800'])
    for (const call of [inbox.get, inbox.read, inbox.archive, inbox.unarchive, inbox.remove])
      assert.ok(isCarillonError(await failureOf(call(id)), 'NOT_FOUND'), id)
})

test('get accepts an id in capital letters', async () => {
  const ann = await service.user()
  const { inbox } = await signedIn(service, ann, 'stateless')
  const [id = ''] = await deliver(ann, 1)
  assert.equal((await inbox.get(id.toUpperCase())).id, id)
})

function known(changes: Changes) {
  return changes.reset ? assert.fail('the response is a reset') : changes
}
