import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Proof, startTestService, type TestUser } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const newPassword = 'grey heron over the weir'
const { key } = await app.producerKey(['users'])
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const headers = { 'content-type': 'application/json', 'user-agent': firefox }

type Notice = {
  title: string
  body: string
  url: string
  category: string
  data: Record<string, unknown>
}

async function noticesOf(proof: Proof): Promise<Notice[]> {
  const { items } = (await app.get('/api/notifications?category=security', proof)).json().data
  return items.filter(({ title }: Notice) => title === 'Your password was changed')
}

async function reset({ id }: TestUser, purpose: string): Promise<void> {
  const link = await app.post(
    `/api/users/${id}/links`,
    { purpose },
    { authorization: `Bearer ${key}` },
  )
  const token = link.json().data.url.split('#')[1]
  const body = JSON.stringify({ token, newPassword })
  assert.equal(
    (await app.request('/password/reset', { method: 'POST', headers, body })).status,
    204,
  )
}

test('the inbox says that the password was changed, with a link to the sign-in that did it', async () => {
  const ann = await app.user()
  const own = await app.signIn(ann, 'stateful')
  const body = JSON.stringify({ currentPassword: ann.password, newPassword })
  const changed = await app.request('/api/me/password', {
    method: 'PUT',
    headers: { ...headers, ...own },
    body,
  })
  assert.equal(changed.status, 204)
  const [notice, ...others] = await noticesOf(own)
  assert.equal(others.length, 0)
  assert.match(notice?.body ?? '', /with Firefox on Linux, from the address 127\.0\.0\.1\. If/)
  const current = (await app.get('/api/me/sessions', own)).json().data.items[0].id
  assert.deepEqual(
    [notice?.url, notice?.category],
    [`${app.url}/account#session-${current}`, 'security'],
  )
  assert.equal(notice?.data.sessionId, current)
})

test('it says so after a reset, and not after an invitation or a refused change', async () => {
  const ann = await app.user()
  const ben = await app.user()
  await reset(ann, 'reset')
  const [notice] = await noticesOf(await app.signIn({ ...ann, password: newPassword }, 'stateful'))
  assert.deepEqual([notice?.url, notice?.data.sessionId], [`${app.url}/account`, null])
  const own = await app.signIn(ben, 'stateful')
  const body = JSON.stringify({ currentPassword: ben.password, newPassword: 'short' })
  const refused = await app.request('/api/me/password', {
    method: 'PUT',
    headers: { ...headers, ...own },
    body,
  })
  assert.equal(refused.status, 400)
  const { id } = (
    await app.post('/api/users', { username: 'invited' }, { authorization: `Bearer ${key}` })
  ).json().data
  await reset({ id } as TestUser, 'invite')
  const invited = { username: 'invited', password: newPassword }
  assert.deepEqual(await noticesOf(await app.signIn(invited, 'stateful')), [])
})
