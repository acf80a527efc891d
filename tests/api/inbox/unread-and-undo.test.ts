import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { EventReader, streamPath } from '../../support/event-source/event-source.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

const unknownId = '01900000-0000-7000-8000-000000000000'
const readAll = (proof: Proof, query = '') =>
  app.post(`/api/notifications/read-all${query}`, undefined, proof)
const undo = (proof: Proof) => app.post('/api/notifications/undo', undefined, proof)
const markUnread = (id: string, proof: Proof) => app.patch(`/api/notifications/${id}/unread`, proof)

/** Oldest first. */
async function annWith(count: number) {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateless')
  for (let n = 1; n <= count; n++) await app.deliver({ to: ann, title: `No. ${n}` })
  const ids = (await app.list(proof)).items.map(({ id }) => id).reverse()
  const readStates = async () => (await app.list(proof)).items.map(({ read }) => read).reverse()
  return { ann, proof, ids, readStates }
}

suite('PATCH /api/notifications/:id/unread', () => {
  test('marks a notification as unread until the next read-all, with 204 and without a body, also if it is repeated', async () => {
    const { proof, ids, readStates } = await annWith(3)
    await readAll(proof)
    for (let n = 0; n < 2; n++) {
      const response = await markUnread(ids[1] ?? '', proof)
      assert.deepEqual([response.status, response.text], [204, ''])
    }
    assert.deepEqual(await readStates(), [true, false, true])
    const { unread, version } = await app.list(proof)
    assert.deepEqual([unread, version], [1, 5])
    await readAll(proof)
    assert.deepEqual(await readStates(), [true, true, true])
  })

  test('an unknown id is 404, and so is a text that is no id', async () => {
    const { proof } = await annWith(1)
    for (const id of [unknownId, 'no-id']) {
      const response = await markUnread(id, proof)
      assert.deepEqual([response.status, response.json().error.code], [404, 'NOT_FOUND'])
    }
  })
})

suite('POST /api/notifications/undo', () => {
  test('is 409 CONFLICT without a read-all, and more than ten minutes after it', async () => {
    const { proof, readStates } = await annWith(2)
    const refused = async () => {
      const response = await undo(proof)
      assert.deepEqual([response.status, response.json().error.code], [409, 'CONFLICT'])
      assert.match(
        response.json().error.message,
        /^There is nothing to undo: .* within ten minutes$/,
      )
    }
    await refused()
    await readAll(proof)
    app.pass(600_001)
    await refused()
    assert.deepEqual(await readStates(), [true, true])
  })
})

test('an open stream gets `unread` for one notification and one `resync` for an undo; a position from before the undo gets a resync, and changes a reset (N3)', async () => {
  const { proof, ids } = await annWith(2)
  using reader = await EventReader.of(app.url, proof)
  await readAll(proof)
  await markUnread(ids[0] ?? '', proof)
  await reader.until(() => reader.events.length === 3)
  assert.deepEqual(
    reader.events.map(({ type }) => type),
    ['hello', 'read-all', 'unread'],
  )
  const { notification, unread, version } = reader.events[2]?.data ?? assert.fail()
  assert.deepEqual([notification.id, notification.read, unread, version], [ids[0], false, 1, 4])
  const changes = async (since: number | string) =>
    (await app.get(`/api/notifications/changes?since=${since}`, proof)).json().data
  assert.deepEqual((await changes(3)).changed, [notification])
  await undo(proof)
  await reader.until(() => reader.events.length === 4)
  const resync = reader.events[3] ?? assert.fail()
  assert.deepEqual(
    [resync.type, resync.data],
    ['resync', { version: 5, unread: 2, total: 2, unseen: 2 }],
  )
  for (const since of [0, 4, reader.events[2]?.id ?? '']) {
    assert.deepEqual(await changes(since), { reset: true })
    using late = await EventReader.open(app.url, {
      path: `${streamPath}?since=${since}`,
      headers: proof,
    })
    await late.until(() => late.events.length === 2)
    assert.deepEqual(
      late.events.map(({ type }) => type),
      ['hello', 'resync'],
    )
  }
  assert.deepEqual((await changes(resync.id ?? '')).changed, [])
})
