// PATCH /api/me
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findUser } from '../../../server/users/users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

const change = (body: unknown, proof: Proof) =>
  app.request('/api/me', {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...proof },
    body: JSON.stringify(body),
  })

test('a user changes the display name and the language', async () => {
  const proof = await app.signIn(await app.user(), 'stateful')
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
    [{ displayName: 'a\u0000b' }, ''],
    [{ displayName: 'a\u0007b' }, 'displayName'],
    [{ locale: 'not a tag' }, 'locale'],
    [{ displayName: 'Ann', locale: 'x_y' }, 'locale'],
    [{ email: 'ann@example.org' }, 'email'],
    [{ username: 'eve' }, 'username'],
    [{ disabled: false }, 'disabled'],
    [{ externalId: '7' }, 'externalId'],
    [{ password: 'plum orchard gate 42' }, 'password'],
  ]
  for (const [body, field] of wrong) {
    const refused = await change(body, proof)
    assert.equal(refused.status, 400, JSON.stringify(body))
    if (field !== '') assert.equal(refusalIn(refused).details?.[0]?.field, field, refused.text)
  }
  assert.deepEqual(await app.store.read(findUser, ann.id), before)
})
