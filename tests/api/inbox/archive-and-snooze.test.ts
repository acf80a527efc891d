import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { EventReader, streamPath } from '../../support/event-source/event-source.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import {
  type Notification,
  type Proof,
  startTestService,
  type Variant,
} from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

const unknownId = '01900000-0000-7000-8000-000000000000'
const day = 24 * 3_600_000
const inMs = (ms: number) => new Date(app.now() + ms).toISOString()
const pathOf = (id: string | undefined, act = '') => `/api/notifications/${id}${act && `/${act}`}`
const archive = (id: string | undefined, proof: Proof) => app.patch(pathOf(id, 'archive'), proof)
const unarchive = (id: string | undefined, proof: Proof) =>
  app.patch(pathOf(id, 'unarchive'), proof)
const snooze = (id: string | undefined, proof: Proof, body: unknown = { until: inMs(60_000) }) =>
  app.patch(pathOf(id, 'snooze'), proof, body)
const markUnread = (id: string | undefined, proof: Proof) => app.patch(pathOf(id, 'unread'), proof)
const remove = (id: string | undefined, proof: Proof) => app.delete(pathOf(id), proof)
const archiveRead = (proof: Proof) => app.post('/api/notifications/archive-read', undefined, proof)
const seen = (throughSeq: unknown, proof: Proof) =>
  app.post('/api/notifications/seen', { throughSeq }, proof)
const undo = (proof: Proof) => app.post('/api/notifications/undo', undefined, proof)
const readAll = (proof: Proof, query = '') =>
  app.post(`/api/notifications/read-all${query}`, undefined, proof)
const counts = async (proof: Proof) =>
  (await app.get('/api/notifications/counts', proof)).json().data
const one = async (id: string | undefined, proof: Proof) =>
  (await app.get(pathOf(id), proof)).json().data as Notification & {
    archivedAt: string
    snoozedUntil: string
  }
const titles = async (proof: Proof, status = '') =>
  (await app.list(proof, status && `?status=${status}`)).items.map(({ title }) => title)

async function annWith(count: number, variant: Variant = 'stateless') {
  const ann = await app.user()
  const proof = await app.signIn(ann, variant)
  const ids: string[] = []
  for (let n = 1; n <= count; n++)
    ids.push(
      ...(await app.deliver({ to: ann, title: `${n}`, category: n % 2 === 0 ? 'even' : 'odd' })),
    )
  return { ann, proof, ids }
}

async function isDone(response: ReturnType<typeof archive>): Promise<void> {
  const { status, text } = await response
  assert.deepEqual([status, text], [204, ''])
}

test('each act is 204 without a body, also if it is repeated, and shows in lists and counts', async () => {
  const { ann, ids } = await annWith(5)
  const proof = await app.issueToken(ann)
  const until = inMs(60_000)
  for (let n = 0; n < 2; n++) {
    await isDone(archive(ids[0], proof))
    await isDone(snooze(ids[1], proof, { until }))
    await isDone(remove(ids[2], proof))
  }
  assert.deepEqual(await titles(proof), ['5', '4'])
  for (const [status, expected] of Object.entries({
    unread: ['5', '4'],
    read: [],
    archived: ['1'],
    snoozed: ['2'],
    all: ['5', '4', '2', '1'],
  }))
    assert.deepEqual(await titles(proof, status), expected, status)
  const categories = { even: { total: 1, unread: 1 }, odd: { total: 1, unread: 1 } }
  assert.deepEqual(await counts(proof), {
    total: 2,
    unread: 2,
    unseen: 2,
    archived: 1,
    snoozed: 1,
    categories,
  })
  const { read, readAt, archivedAt } = await one(ids[0], proof)
  assert.deepEqual([read, readAt, archivedAt], [true, inMs(0), inMs(0)])
  assert.equal((await one(ids[1], proof)).snoozedUntil, until)
  assert.equal((await app.get(pathOf(ids[2]), proof)).status, 404)
  assert.equal((await app.list(proof)).version, 8)
  for (let n = 0; n < 2; n++) for (const id of ids.slice(0, 2)) await isDone(unarchive(id, proof))
  assert.deepEqual(await titles(proof), ['5', '4', '2', '1'])
  assert.deepEqual(await titles(proof, 'read'), ['2', '1'])
  for (let n = 0; n < 2; n++) await isDone(archiveRead(proof))
  assert.deepEqual(await titles(proof), ['5', '4'])
  for (let n = 0; n < 2; n++) await isDone(undo(proof))
  assert.deepEqual(await titles(proof), ['5', '4', '2', '1'])
  for (let n = 0; n < 2; n++) await isDone(seen(4, proof))
  assert.equal((await counts(proof)).unseen, 1)
  assert.equal((await app.list(proof)).version, 13)
})

test('every act on a foreign or unknown id, or on a text that is no id, is 404', async () => {
  const { proof } = await annWith(1)
  const { ids, proof: others } = await annWith(1)
  for (const id of [ids[0], unknownId, 'no-id'])
    for (const act of [archive, unarchive, markUnread, snooze, remove]) {
      const response = await act(id, proof)
      assert.deepEqual(
        [response.status, response.json().error.code],
        [404, 'NOT_FOUND'],
        `${act.name} ${id}`,
      )
    }
  assert.deepEqual(await titles(others), ['1'])
})

suite('PATCH /api/notifications/:id/snooze', () => {
  test('an until that is no time within a year from now is 400 and names until, and changes nothing (I6)', async () => {
    const { proof, ids } = await annWith(1)
    for (const until of [inMs(-1), inMs(367 * day), '2026-12-31T23:59:60Z']) {
      const response = await snooze(ids[0], proof, { until })
      assert.equal(response.status, 400, response.text)
      assert.deepEqual(response.json().error.details, [
        { field: 'until', reason: 'must be in the future and at most a year away' },
      ])
    }
    assert.deepEqual(await titles(proof), ['1'])
  })

  test('an until a year away and one in a moment are accepted, and another field is refused', async () => {
    const { proof, ids } = await annWith(1)
    for (const until of [inMs(365 * day), inMs(1)]) {
      await isDone(snooze(ids[0], proof, { until }))
      assert.equal((await one(ids[0], proof)).snoozedUntil, until)
    }
    const response = await snooze(ids[0], proof, { until: inMs(day), note: 'later' })
    assert.deepEqual([response.status, response.json().error.details[0].field], [400, 'note'])
  })

  test('a time with another offset is the same moment', async () => {
    const { proof, ids } = await annWith(1)
    await isDone(snooze(ids[0], proof, { until: '2026-05-01T10:00:00+02:00' }))
    assert.equal((await one(ids[0], proof)).snoozedUntil, '2026-05-01T08:00:00.000Z')
  })
})

suite('POST /api/notifications/seen', () => {
  test('0 and a number above all are accepted: a lower one than before changes nothing', async () => {
    const { proof } = await annWith(3)
    for (const [throughSeq, unseen] of [
      [2, 1],
      [0, 1],
      [Number.MAX_SAFE_INTEGER, 0],
    ] as const) {
      await isDone(seen(throughSeq, proof))
      assert.equal((await counts(proof)).unseen, unseen, String(throughSeq))
    }
    assert.equal((await app.list(proof)).unread, 3)
  })

  test('a throughSeq that is no count is 400 and names throughSeq (I6)', async () => {
    for (const throughSeq of [-1, Number.MAX_SAFE_INTEGER + 1]) {
      const response = await seen(throughSeq, await app.signIn(await app.user(), 'stateless'))
      assert.deepEqual(
        [response.status, response.json().error.details[0].field],
        [400, 'throughSeq'],
      )
    }
  })
})

test('undo is 409 CONFLICT if nothing was done, and ten minutes after an archive-read', async () => {
  const { proof } = await annWith(3)
  const isNothing = async () => {
    const { status, code, message } = refusalIn(await undo(proof))
    assert.deepEqual([status, code], [409, 'CONFLICT'])
    assert.match(message, /^There is nothing to undo: .* within ten minutes$/)
  }
  await isNothing()
  await readAll(proof, '?throughSeq=2')
  await archiveRead(proof)
  app.pass(600_001)
  await isNothing()
  assert.deepEqual(await titles(proof), ['3'])
})

test('an open stream and changes have each act as its own, with the counts of the list', async () => {
  const { proof, ids } = await annWith(3)
  using reader = await EventReader.of(app.url, proof)
  const since = (await app.list(proof)).version
  const until = inMs(60_000)
  const acts: [type: string, act: () => Promise<unknown>, state: number[]][] = [
    ['archived', () => archive(ids[0], proof), [2, 2, 2]],
    ['unarchived', () => unarchive(ids[0], proof), [3, 2, 3]],
    ['snoozed', () => snooze(ids[1], proof, { until }), [2, 1, 2]],
    ['archive-read', () => archiveRead(proof), [1, 1, 1]],
    ['seen', () => seen(3, proof), [1, 1, 0]],
    ['removed', () => remove(ids[2], proof), [0, 0, 0]],
  ]
  for (const [n, [type, act, state]] of acts.entries()) {
    await act()
    const { data } = await reader.next(type)
    assert.deepEqual(
      [data.version, data.total, data.unread, data.unseen],
      [since + n + 1, ...state],
      type,
    )
    if (data.notification)
      assert.deepEqual(data.notification, await one(data.notification.id, proof))
    if (type === 'archive-read') assert.deepEqual([data.throughSeq, data.archivedAt], [3, inMs(0)])
    if (type === 'removed') assert.deepEqual([data.id, data.reason], [ids[2], 'deleted'])
  }
  const changes = (await app.get(`/api/notifications/changes?since=${since}`, proof)).json().data
  const { created, changed, archiveReads, removed, total, unread, unseen } = changes
  assert.deepEqual([created, removed, total, unread, unseen], [[], [ids[2]], 0, 0, 0])
  assert.deepEqual(archiveReads, [{ throughSeq: 3, archivedAt: inMs(0) }])
  assert.deepEqual(changed, await Promise.all([ids[0], ids[1]].map((id) => one(id, proof))))
  await undo(proof)
  await reader.next('resync')
})

test('a security notice is 409 to delete, archive or snooze for 24 hours, and archive-read and by-key leave it (S17)', async () => {
  const { ann, proof } = await annWith(2, 'stateful')
  const password = 'grey heron over the weir'
  const changed = await app.request('/api/me/password', {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...proof },
    body: JSON.stringify({ currentPassword: ann.password, newPassword: password }),
  })
  assert.ok(changed.status < 300, changed.text)
  const own = await app.signIn({ ...ann, password }, 'stateful')
  const { items } = await app.list(own, '?category=security')
  const notice =
    items.find(({ title }) => /password/i.test(title)) ?? assert.fail('there is no notice')
  for (const act of [archive, snooze, remove]) {
    const { status, text } = await act(notice.id, own)
    assert.equal(status, 409, text)
    assert.match(text, /security notice.* 24 hours/)
  }
  await isDone(readAll(own))
  await isDone(archiveRead(own))
  assert.ok((await titles(own, 'read')).includes(notice.title))
  const archived = await titles(own, 'archived')
  assert.deepEqual([archived.includes('1'), archived.includes('2')], [true, true])
  const { key } = await app.producerKey()
  const headers = { authorization: `Bearer ${key}` }
  for (const name of ['security', notice.id])
    assert.equal(
      (await app.request(`/api/notifications/by-key/${name}`, { method: 'DELETE', headers }))
        .status,
      404,
    )
  app.pass(day)
  await isDone(remove(notice.id, await app.signIn({ ...ann, password }, 'stateful')))
})

test('an open stream gets `unread` for one notification and one `resync` for an undo; a position from before the undo gets a resync, and changes a reset (N3)', async () => {
  const { proof, ids } = await annWith(2)
  using reader = await EventReader.of(app.url, proof)
  await readAll(proof)
  await markUnread(ids[0], proof)
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

test('a read-all of categories is one event and one change, which name them', async () => {
  const { proof } = await annWith(3)
  using reader = await EventReader.of(app.url, proof)
  const { version } = await app.list(proof)
  await isDone(readAll(proof, '?category=even&category=odd'))
  const { data: event } = await reader.next('read-all')
  const { data } = (await app.get(`/api/notifications/changes?since=${version}`, proof)).json()
  for (const { categories, throughSeq } of [event, data.readAlls[0]])
    assert.deepEqual([categories.toSorted(), throughSeq], [['even', 'odd'], 3])
  assert.deepEqual([data.readAlls.length, data.unread], [1, 0])
})
