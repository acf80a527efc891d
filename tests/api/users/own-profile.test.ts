// PATCH /api/me
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { findUser } from '../../../server/users/users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Proof, startTestService, variants } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

const change = (body: unknown, proof: Proof) =>
  app.request('/api/me', {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...proof },
    body: JSON.stringify(body),
  })

for (const variant of variants)
  test(`a user changes the display name and the language, ${variant}`, async () => {
    const proof = await app.signIn(await app.user(), variant)
    const changed = await change({ displayName: 'Ann Lee', locale: 'de-ch' }, proof)
    assert.equal(changed.status, 200, changed.text)
    const { user } = changed.json().data
    assert.deepEqual([user.displayName, user.locale], ['Ann Lee', 'de-CH'])
    assert.deepEqual(changed.json(), (await app.get('/api/me', proof)).json())
    assert.equal((await change({ locale: null }, proof)).json().data.user.locale, null)
    assert.equal((await change({}, proof)).json().data.user.displayName, 'Ann Lee')
  })

test('an invalid value or another field is refused with the reason, and nothing is changed', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const before = await app.store.read(findUser, ann.id)
  const wrong: [unknown, string][] = [
    [{ displayName: '' }, 'displayName'],
    [{ displayName: 'a\u0000b' }, ''],
    [{ displayName: 'a\u0007b' }, 'displayName'],
    [{ displayName: 'a'.repeat(201) }, 'displayName'],
    [{ displayName: 7 }, 'displayName'],
    [{ locale: 'not a tag' }, 'locale'],
    [{ displayName: 'Ann', locale: 'x_y' }, 'locale'],
    [{ email: 'ann@example.org' }, 'email'],
    [{ username: 'eve' }, 'username'],
    [{ disabled: false }, 'disabled'],
    [{ externalId: '7' }, 'externalId'],
    [{ password: 'plum orchard gate 42' }, 'password'],
    [[], ''],
    ['x', ''],
  ]
  for (const [body, field] of wrong) {
    const refused = await change(body, proof)
    assert.equal(refused.status, 400, JSON.stringify(body))
    if (field !== '') assert.equal(refusalIn(refused).details?.[0]?.field, field, refused.text)
  }
  assert.deepEqual(await app.store.read(findUser, ann.id), before)
})

test('no proof, a token for the inbox, a producer key and a disabled user change nothing', async () => {
  const ann = await app.user()
  const { key } = await app.producerKey(['send', 'users'])
  const token = await app.signIn(ann, 'stateless')
  const body = { displayName: 'Eve' }
  assert.equal((await change(body, {})).status, 401)
  assert.equal((await change(body, { authorization: `Bearer ${key}` })).status, 401)
  assert.equal((await change(body, await app.issueToken(ann))).status, 403)
  const crossSite = { ...(await app.signIn(ann, 'stateful')), origin: 'https://evil.example' }
  assert.equal((await change(body, { ...crossSite, 'sec-fetch-site': 'cross-site' })).status, 403)
  await app.store.write(disableUser, { userId: ann.id, at: app.now() })
  assert.equal((await change(body, token)).status, 401)
  assert.equal((await app.store.read(findUser, ann.id))?.displayName, null)
})
