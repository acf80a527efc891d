import assert from 'node:assert/strict'
import { at, newId, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { changesSince, readInbox, readLocale, readNotification } from '../inbox/inbox.store.ts'
import { contentOf } from '../inbox/notification-json.ts'
import { userKey } from '../inbox/user-key.ts'
import { all, type Read } from '../store/statements.ts'
import { putUsers } from '../users/put-users.store.ts'
import { updateUser } from '../users/users.store.ts'

const given = {
  title: { fr: 'Bonjour', en: 'Hello' },
  body: { de: 'Text' },
  actor: { name: 'Ben "B"' },
  icon: { imageUrl: '/a.png' },
  actions: [{ label: 'Open', url: '/open' }],
  format: 'markdown',
  priority: 'high',
  expiresAt: '2026-02-01T10:00:00+01:00',
}
const shown = {
  title: 'Hello',
  body: 'Text',
  texts: { fr: { title: 'Bonjour' }, en: { title: 'Hello' }, de: { body: 'Text' } },
  actor: { name: 'Ben "B"', imageUrl: null },
  icon: { imageUrl: '/a.png' },
  actions: [{ label: 'Open', url: '/open' }],
  format: 'markdown',
  priority: 'high',
  expiresAt: '2026-02-01T09:00:00.000Z',
}
const plain = {
  title: 'Hi',
  body: null,
  actor: null,
  icon: null,
  actions: null,
  format: 'text',
  priority: 'normal',
  expiresAt: null,
}

async function shownBy(world: World, { id: userId }: Person, id: string) {
  const { title, body, texts, actor, icon, actions, format, priority, expiresAt } = JSON.parse(
    (await world.store.read(readNotification, { userId, id })) ?? '{}',
  )
  return { title, body, ...(texts && { texts }), actor, icon, actions, format, priority, expiresAt }
}

function* producersOf(userId: string): Read<(number | null)[]> {
  const rows = yield* all<{ producer: number | null }>`
    select producer from notification where user_id = ${userKey(userId)} order by seq`
  return rows.map(({ producer }) => producer)
}

export function contentPromises(promise: PromiseOf): void {
  const ways: [way: string, more: { key?: string }, count: number][] = [
    ['to one user', {}, 1],
    ['to two users', {}, 2],
    ['to 101 users', {}, 101],
    ['to one user with a key', { key: 'k' }, 1],
    ['to two users with a key', { key: 'k' }, 2],
  ]
  for (const [way, more, count] of ways)
    promise(
      `a delivery ${way} stores look, texts, end and producer, and the defaults of each`,
      async (world) => {
        const people = await world.addUsers(count)
        const [ann] = people as [Person]
        const of = async (content: Parameters<typeof contentOf>[0]) => {
          const { results } = await world.deliver({
            to: people,
            content: contentOf(content),
            ...more,
          })
          return shownBy(world, ann, results[0]?.id ?? '')
        }
        assert.deepEqual(await of(given), shown)
        assert.deepEqual(await of({ title: 'Hi' }), plain)
        assert.deepEqual(await of(given), shown)
        const [number, ...others] = await world.store.read(producersOf, ann.id)
        assert.equal(typeof number, 'number')
        assert.deepEqual(others, more.key === undefined ? [number, number] : [])
      },
    )

  promise(
    'a notification of the service itself has no producer, and a replacement has that of the last delivery',
    async (world) => {
      const ann = await world.addUser('ann')
      const other = await world.addProducer('other')
      await world.send(ann, 'Hi', { producerId: 'carillon' })
      await world.send(ann, 'Hi', { key: 'k' })
      const [none, first] = await world.store.read(producersOf, ann.id)
      await world.send(ann, 'Hi', { key: 'k', producerId: other })
      const [, second] = await world.store.read(producersOf, ann.id)
      assert.equal(none, null)
      assert.equal(Number(second), Number(first) + 1)
    },
  )

  promise(
    'a new language of a user raises the version of the inbox, and every earlier position gets a reset',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await world.send(ann)
      const signalled: string[] = []
      const stop = world.store.onChange(
        (signal) => signal.about === 'inbox' && signalled.push(signal.userId),
      )
      for (const locale of ['de-CH', 'de-CH', null])
        await world.store.write(updateUser, { userId: ann.id, locale, displayName: 'Ann' })
      await world.store.write(updateUser, { userId: ben.id, locale: 'fr' })
      stop()
      const { version, resetVersion } = await world.store.read(readInbox, ann.id)
      assert.deepEqual([version, resetVersion], [3, 3])
      assert.equal(
        await world.store.read(changesSince, { userId: ann.id, version: 2, limit: 10 }),
        'reset',
      )
      assert.deepEqual(signalled.filter((id) => id === ann.id).length >= 1, true)
      assert.equal((await world.store.read(readInbox, ben.id)).version, 0)
      assert.equal(await world.store.read(readLocale, ben.id), 'fr')
      assert.equal(await world.store.read(readLocale, newId()), null)
    },
  )

  promise(
    'a list of users that gives some another language raises the version of their inboxes alone',
    async (world) => {
      const put = (locale: string, ids: readonly string[]) =>
        world.store.write(putUsers, {
          issuer: '',
          at: at(0),
          users: ids.map((externalId) => ({ newId: newId(), externalId, locale })),
        })
      const first = await put('en', ['1', '2', '3'])
      await world.deliver({ to: first.map(({ user }) => ({ userId: user.id })) })
      await put('de', ['1', '3'])
      await put('en', ['2', '4'])
      const versions = first.map(
        async ({ user }) => (await world.store.read(readInbox, user.id)).version,
      )
      assert.deepEqual(await Promise.all(versions), [2, 1, 2])
    },
  )
}
