// GET /api/me/export and DELETE /api/me.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { notificationsAfter } from '../../../server/own-data/export.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { erasedKey } from '../../../server/tokens/tokens.store.ts'
import { findUser } from '../../../server/users/users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Proof, startTestService } from '../../support/service.ts'
import { soakTest } from '../../support/soak.ts'

const app = await startTestService()
after(() => app.stop())

const erase = (proof: Proof = {}) => app.request('/api/me', { method: 'DELETE', headers: proof })

test('a user downloads everything as lines', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateless')
  const [id] = await app.deliver({
    to: [ann, await app.user()],
    title: 'Zwölf "Reiher"\n',
    data: { n: 1 },
  })
  const response = await app.get('/api/me/export', proof)
  assert.equal(response.status, 200, response.text)
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
  assert.equal(
    response.headers.get('content-disposition'),
    'attachment; filename="carillon-export.jsonl"',
  )
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const lines = response.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const [{ type, id: userId }] = lines
  assert.deepEqual([type, userId], ['user', ann.id])
  assert.ok(lines.some((line) => line.type === 'activity' && line.event === 'sign-in'))
  const sent = lines.filter((line) => line.type === 'notification')
  assert.deepEqual(sent, [
    { type: 'notification', ...(await app.get(`/api/notifications/${id}`, proof)).json().data },
  ])
  const head = await app.request('/api/me/export', { method: 'HEAD', headers: proof })
  assert.deepEqual([head.status, head.text], [200, ''])
})

test('a browser whose sign-in has ended gets a page in place of the export, and no file', async () => {
  const response = await app.get('/api/me/export', { accept: 'text/html' })
  assert.deepEqual(
    [response.status, response.headers.get('content-type')],
    [401, 'text/html; charset=utf-8'],
  )
  assert.equal(response.headers.get('content-disposition'), null)
})

test('the export ends reading when the client is gone', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  for (let n = 0; n < 4; n++)
    await Promise.all(Array.from({ length: 75 }, () => app.deliver({ to: ann, title: 'Hi' })))
  const gone = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  let reads = 0
  const restore = replaceOperation(app.store, notificationsAfter, async (_, run) => {
    if (++reads === 2) {
      held.resolve()
      await gone.promise
    }
    return run()
  })
  const request = get(`${app.url}/api/me/export`, { headers: proof })
  request.on('error', () => {}).on('response', (response) => response.resume())
  await held.promise
  const closed = new Promise((resolve) => request.on('close', resolve))
  request.destroy()
  await closed
  // The service learns of the end before it responds to a later request.
  await app.get('/livez')
  gone.resolve()
  await app.get('/api/me', proof)
  assert.equal(reads, 2)
  restore?.()
})

test('a user has one export at a time and a process four, and a place is free again when its response is over (L1)', async () => {
  const users = await Promise.all(Array.from({ length: 5 }, () => app.user()))
  const proofs = await Promise.all(users.map((user) => app.signIn(user, 'stateful')))
  const [ann, ben, , , eve] = proofs
  await app.deliver({ to: users, title: 'Hi' })
  const allRead = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let reads = 0
  const restore = replaceOperation(app.store, notificationsAfter, async (_, run) => {
    if (++reads === 4) allRead.resolve()
    await released.promise
    return run()
  })
  const four = proofs.slice(0, 4).map((proof) => app.get('/api/me/export', proof))
  await allRead.promise
  const again = await app.get('/api/me/export', ann)
  assert.deepEqual([again.status, refusalIn(again).code], [429, 'TOO_MANY_REQUESTS'])
  assert.ok(again.headers.get('retry-after'))
  const fifth = await app.get('/api/me/export', eve)
  assert.deepEqual([fifth.status, refusalIn(fifth).code], [503, 'UNAVAILABLE'])
  assert.equal(
    (await app.request('/api/me/export', { method: 'HEAD', headers: ann ?? {} })).status,
    200,
  )
  // A client that goes away gives its place back, too.
  const left = get(`${app.url}/api/me/export`, { headers: ben ?? {} })
  await new Promise((resolve) => left.on('response', resolve).on('error', resolve))
  left.destroy()
  released.resolve()
  for (const { status, text } of await Promise.all(four))
    assert.ok(status === 200 && text.includes('"title":"Hi"'))
  for (const proof of [ann, eve]) assert.equal((await app.get('/api/me/export', proof)).status, 200)
  restore?.()
})

test('an export ends with its proof, and has nothing that came after it (S17, A13)', async () => {
  const ann = await app.user()
  const owner = await app.signIn(ann, 'stateful')
  const thief = await app.signIn(ann, 'stateful')
  await app.deliver({ to: ann, title: 'Before' })
  const reading = Promise.withResolvers<void>()
  const changed = Promise.withResolvers<void>()
  const restore = replaceOperation(app.store, notificationsAfter, async (_, run) => {
    reading.resolve()
    await changed.promise
    return run()
  })
  const exported = taken(thief)
  await reading.promise
  const { password: currentPassword } = ann
  const headers = { ...owner, 'content-type': 'application/json' }
  const body = JSON.stringify({ currentPassword, newPassword: 'quiet heron over the weirs' })
  assert.equal(
    (await app.request('/api/me/password', { method: 'PUT', headers, body })).status,
    204,
  )
  await app.deliver({ to: ann, title: 'After' })
  changed.resolve()
  const { text, isWhole } = await exported
  restore?.()
  assert.match(text, /"type":"user"/)
  assert.doesNotMatch(text, /"title"/)
  assert.equal(isWhole, false)
})

/** Whether that is all of it. */
async function taken(proof: Proof): Promise<{ text: string; isWhole: boolean }> {
  const request = get(`${app.url}/api/me/export`, { headers: proof })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  try {
    for await (const chunk of response) text += chunk
    return { text, isWhole: true }
  } catch {
    return { text, isWhole: false }
  }
}

test('an export that has lasted for 30 s gives its place to another one that needs it, of its user or of a fifth one (L1)', async () => {
  const users = await Promise.all(Array.from({ length: 5 }, () => app.user()))
  const proofs = await Promise.all(users.map((user) => app.signIn(user, 'stateful')))
  const [ann = {}, ben = {}, carl = {}, dora = {}, eve = {}] = proofs
  const released = Promise.withResolvers<void>()
  let begun: () => void = assert.fail
  let isHeld = true
  const restore = replaceOperation(app.store, notificationsAfter, async (_, run) => {
    begun()
    if (isHeld) await released.promise
    return run()
  })
  const held: ReturnType<typeof taken>[] = []
  for (const proof of [ann, ben, carl, dora]) {
    const reading = new Promise<void>((resolve) => {
      begun = resolve
    })
    held.push(taken(proof))
    await reading
  }
  isHeld = false
  app.pass(29_999)
  assert.equal((await app.get('/api/me/export', ben)).status, 429)
  assert.equal((await app.get('/api/me/export', eve)).status, 503)
  app.pass(1)
  // Ben's export takes the place of his own one, and that of Eve takes the place of the oldest.
  for (const proof of [ben, eve]) assert.equal((await app.get('/api/me/export', proof)).status, 200)
  released.resolve()
  const ends = (await Promise.all(held)).map(({ isWhole }) => isWhole)
  restore?.()
  assert.deepEqual(ends, [true, false, true, true])
})

soakTest(
  'an export whose client takes nothing is read no further, and completes when the client reads (L1)',
  async () => {
    const ann = await app.user()
    const proof = await app.signIn(ann, 'stateful')
    const body = '漢'.repeat(4_000)
    for (let n = 0; n < 12; n++)
      await Promise.all(
        Array.from({ length: 100 }, () => app.deliver({ to: ann, title: 'Long', body })),
      )
    let reads = 0
    const restore = replaceOperation(app.store, notificationsAfter, async (_, run) => {
      reads++
      return run()
    })
    const request = get(`${app.url}/api/me/export`, { headers: proof })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.pause()
    // The buffers of both systems take some pages. Then the reads stop, whatever else the service does.
    for (let before = -1; before !== reads; ) {
      before = reads
      for (let n = 0; n < 50; n++) await app.get('/livez')
    }
    const isHeld = reads < 200
    let bytes = 0
    for await (const chunk of response) bytes += chunk.length
    restore?.()
    assert.ok(isHeld, 'the service read everything for a client that took nothing')
    assert.ok(bytes > 1_200 * 12_000 && reads > 200, `${bytes} bytes, ${reads} reads`)
  },
)

test('a user erases the account: the cookie is cleared, every proof ends, and nobody else loses anything', async () => {
  const ann = await app.user()
  const ben = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const other = await app.signIn(ann, 'stateless')
  const bens = await app.signIn(ben, 'stateful')
  await app.deliver({ to: [ann, ben], title: 'For both' })
  const response = await erase(proof)
  assert.deepEqual([response.status, response.text], [204, ''])
  const cookies = response.headers.getSetCookie()
  assert.match(cookies[0] ?? '', /^carillon=; .*Max-Age=0/)
  for (const ended of [proof, other]) assert.equal((await app.get('/api/me', ended)).status, 401)
  assert.equal((await erase(proof)).status, 401)
  const { username, password } = ann
  assert.equal((await app.post('/login', { username, password })).status, 401)
  assert.equal(await app.store.read(findUser, ann.id), undefined)
  assert.equal((await app.get('/api/notifications/counts', bens)).json().data.total, 1)
  const entries = await app.store.read(listAudit, { actor: 'user', limit: 100 })
  const erased = entries.find(({ detail }) => detail?.user === erasedKey(ann.id))
  const { event, userId, address, userAgent } = erased ?? {}
  assert.deepEqual([event, userId, address, userAgent], ['user-erased', null, null, null])
})

test('ten minutes after the sign-in, the account is erased only after a confirmation', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  app.pass(10 * 60_000 + 1)
  assert.equal(refusalIn(await erase(proof)).code, 'FRESH_SIGN_IN_REQUIRED')
  assert.equal((await app.get('/api/me/export', proof)).status, 200)
  const confirmed = await app.post('/api/me/confirm', { password: ann.password }, proof)
  assert.equal(confirmed.status, 204, confirmed.text)
  assert.equal((await erase(proof)).status, 204)
})
