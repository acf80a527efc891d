import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { EventReader } from '../../support/event-source/event-source.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

const readAll = (proof: Proof, query = '') =>
  app.post(`/api/notifications/read-all${query}`, undefined, proof)

async function annWith(categories: readonly (string | null)[]) {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateless')
  for (const category of categories)
    await app.deliver({ to: ann, title: 'New', ...(category !== null && { category }) })
  const unread = async () => {
    const { items } = await app.list(proof, '?status=unread')
    return (items as unknown as { category: string | null }[]).map((one) => one.category).reverse()
  }
  return { ann, proof, unread }
}

const mixed = ['orders', 'chat', null, 'orders', 'chat', 'news']

test('read-all with category marks only these categories, up to throughSeq, with exact counts; undo takes exactly that back', async () => {
  const { proof, unread } = await annWith(mixed)
  assert.equal((await readAll(proof, '?category=orders')).status, 204)
  assert.deepEqual(await unread(), ['chat', null, 'chat', 'news'])
  const counts = (await app.get('/api/notifications/counts', proof)).json().data
  assert.deepEqual([counts.unread, counts.categories.orders], [4, { total: 2, unread: 0 }])
  assert.equal(
    (await readAll(proof, '?category=chat&category=news&category=chat&throughSeq=5')).status,
    204,
  )
  assert.deepEqual(await unread(), [null, 'news'])
  assert.equal((await app.post('/api/notifications/undo', undefined, proof)).status, 204)
  assert.deepEqual(await unread(), ['chat', null, 'chat', 'news'])
})

test('read-all with an invalid category, or with more than 20, is 400 and marks nothing', async () => {
  const { proof, unread } = await annWith(mixed)
  const many = Array.from({ length: 21 }, (_, n) => `category=c${n}`).join('&')
  for (const query of ['?category=', `?category=${'x'.repeat(65)}`, `?${many}`]) {
    const response = await readAll(proof, query)
    assert.deepEqual(
      [response.status, response.json().error.details[0]?.field.split(/\W/)[0]],
      [400, 'category'],
    )
  }
  assert.equal((await unread()).length, 6)
  assert.equal((await readAll(proof, `?${many.replace(/&[^&]*$/, '')}`)).status, 204)
  assert.equal((await unread()).length, 6)
})

test('a read-all of categories is one event and one change, which name them', async () => {
  const { proof } = await annWith(mixed)
  using reader = await EventReader.of(app.url, proof)
  await reader.until(() => reader.events.length > 0)
  const { version } = await app.list(proof)
  await readAll(proof, '?category=orders&category=chat')
  await reader.until(() => reader.events.some(({ type }) => type === 'read-all'))
  const { data } = (await app.get(`/api/notifications/changes?since=${version}`, proof)).json()
  assert.deepEqual(
    data.readAlls.map((one: { categories: string[] }) => one.categories.toSorted()),
    [['chat', 'orders']],
  )
  assert.deepEqual([data.readAlls[0].throughSeq, data.unread], [6, 2])
})
