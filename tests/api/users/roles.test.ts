// An application's key does not find this user for a change, and the audit log has each try (O1).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { newId } from '../../../server/basics/ids.ts'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { putUsers } from '../../../server/users/put-users.store.ts'
import { findUser } from '../../../server/users/users.store.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey(['send', 'users'])
const producer = { authorization: `Bearer ${key}` }

test('no key changes, links, disables or erases a user with a role: 404, and an entry for each try (O1)', async () => {
  const [put] = await app.store.write(putUsers, {
    issuer: '',
    at: app.now(),
    users: [{ newId: newId(app.now()), externalId: 'boss', displayName: 'Boss' }],
  })
  const id = put?.user.id ?? ''
  await app.store.write(setRole, { userId: id, role: 'operator' })
  const before = await app.store.read(findUser, id)
  const json = { ...producer, 'content-type': 'application/json' }
  const byId = `/api/users/${id}`
  const external = '/api/users/external/boss'
  const tries: [method: string, path: string, body?: unknown][] = [
    ...[byId, external].flatMap((path): [string, string, unknown?][] => [
      ['PATCH', path, { displayName: 'Mallory' }],
      ['PATCH', path, { username: 'mallory' }],
      ['PATCH', path, { email: 'mallory@example.org', emailVerified: true }],
      ['PATCH', path, { disabled: true }],
      ['POST', `${path}/links`, { purpose: 'reset' }],
      ['POST', `${path}/links`, { purpose: 'invite' }],
      ['DELETE', `${path}/sessions`],
      ['DELETE', path],
    ]),
    ['PUT', external, { displayName: 'Mallory' }],
    [
      'PUT',
      '/api/users',
      { users: [{ externalId: 'new' }, { externalId: 'boss', displayName: 'Mallory' }] },
    ],
    ['PUT', '/api/users', { users: [{ externalId: 'boss', username: 'mallory', disabled: true }] }],
  ]
  for (const [method, path, body] of tries) {
    const sent =
      body === undefined ? { headers: producer } : { headers: json, body: JSON.stringify(body) }
    const response = await app.request(path, { method, ...sent })
    assert.equal(response.status, 404, `${method} ${path}: ${response.text}`)
  }
  assert.deepEqual(await app.store.read(findUser, id), before)
  assert.equal((await app.get('/api/users/external/new', producer)).status, 404)
  const entries = await app.store.read(listAudit, { userId: id, limit: 100 })
  assert.equal(entries.filter(({ event }) => event === 'key-refused').length, tries.length)
  assert.ok(entries.every(({ actor }) => actor.startsWith('producer:')))
})

test('a user without a role stays in reach of the key (O1)', async () => {
  const user = await app.user()
  assert.equal(
    (await app.patch(`/api/users/${user.id}`, producer, { displayName: 'Ann' })).status,
    200,
  )
  assert.equal((await app.delete(`/api/users/${user.id}`, producer)).status, 204)
})
