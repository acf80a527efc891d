import assert from 'node:assert/strict'
import { at, isoAt, newId, type Person, type PromiseOf, type World } from '../../contract/world.ts'
import { actsOf } from '../../inbox/contract/places.contract.ts'
import { changePreferences, putCategory } from '../../preferences/preferences.store.ts'
import { deleteUser } from '../../users/erasure/erasure.store.ts'
import { updateUser } from '../../users/users.store.ts'
import {
  claimOutbox,
  delayInOutbox,
  dropFromOutbox,
  listOutbox,
  type OutboxRow,
} from '../outbox.store.ts'
import { dueReminders } from '../timers/decision.store.ts'
import { decideMail } from './unread.store.ts'

const mailUnread = '15m'
const due = 15 * 60

async function reader(world: World, name = 'ann'): Promise<Person> {
  const person = await world.addUser(name)
  const change = { userId: person.id, email: 'ann@example.org', emailVerifiedAt: at(0) }
  assert.equal(await world.store.write(updateUser, change), 'done')
  return person
}

const send = (world: World, person: Person, seconds = 0, more = {}) =>
  world.send(person, 'Hi', { at: at(seconds), mailUnread, ...more })

/** Returns the ids in new rows of the outbox. */
async function decide(
  world: World,
  seconds: number,
  rule: 'off' | '15m' = mailUnread,
): Promise<string[]> {
  const { store } = world
  const rows: string[] = []
  for (const { userId } of await store.read(dueReminders, {
    channels: ['mail'],
    at: at(seconds),
  })) {
    const rowId = newId()
    if ((await store.write(decideMail, { userId, at: at(seconds), mailUnread: rule, rowId })) > 0)
      rows.push(rowId)
  }
  const listed = await store.read(listOutbox, { limit: 1_000 })
  await store.write(dropFromOutbox, { ids: rows })
  return listed.filter(({ id }) => rows.includes(id)).flatMap(({ ids }) => JSON.parse(ids))
}

export function unreadPromises(promise: PromiseOf): void {
  promise(
    'what is unread when it is due is in one row, once, and the timer goes with the last of it',
    async (world) => {
      const ann = await reader(world)
      const first = await send(world, ann)
      const second = await send(world, ann, 60)
      const read = await send(world, ann, 60)
      assert.deepEqual(await decide(world, due - 1), [])
      await actsOf(world, ann).read(read, 70)
      assert.deepEqual(await decide(world, due), [first])
      assert.deepEqual(await decide(world, due + 59), [])
      assert.deepEqual(await decide(world, due + 60), [second])
      assert.deepEqual(
        await world.store.read(dueReminders, { channels: ['mail'], at: at(10 * due) }),
        [],
      )
    },
  )

  promise(
    'a user without a verified address, or with none any more, gets no mail',
    async (world) => {
      const ann = await world.addUser('ann')
      await send(world, ann)
      assert.deepEqual(
        await world.store.read(dueReminders, { channels: ['mail'], at: at(due) }),
        [],
      )
      const ben = await reader(world, 'ben')
      await send(world, ben)
      await world.store.write(updateUser, { userId: ben.id, email: null })
      assert.deepEqual(await decide(world, due), [])
      assert.deepEqual(
        await world.store.read(dueReminders, { channels: ['mail'], at: at(due) }),
        [],
      )
    },
  )

  promise('one delivery to many writes a timer for those who have an address', async (world) => {
    const people = [await reader(world), await world.addUser('ben'), await reader(world, 'cid')]
    await world.deliver({ to: people, at: at(0), mailUnread })
    await world.deliver({ to: people, at: at(9), mailUnread, key: 'k' })
    const expected = people.filter((_, n) => n !== 1).map(({ id }) => id)
    const timers = await world.store.read(dueReminders, { channels: ['mail'], at: at(due) })
    assert.deepEqual(timers.map(({ userId }) => userId).sort(), expected.sort())
    assert.equal((await decide(world, due)).length, 2)
    assert.equal((await decide(world, due + 9)).length, 2)
  })

  promise(
    'the rules of the moment decide: of the reader, of the category, of the service',
    async (world) => {
      const ann = await reader(world)
      const category = { application: '', label: '"C"', description: null }
      await world.store.write(putCategory, { ...category, name: 'slow', mandatory: 0, mail: '1h' })
      await world.store.write(putCategory, { ...category, name: 'must', mandatory: 1, mail: '5m' })
      const slow = await send(world, ann, 0, { category: 'slow' })
      const must = await send(world, ann, 0, { category: 'must' })
      const plain = await send(world, ann)
      assert.deepEqual(await decide(world, 300), [must])
      const choose = (choices: { category: string; mail: 'off' | '5m' | null }[]) =>
        world.store.write(changePreferences, { userId: ann.id, choices, now: isoAt(301) })
      assert.equal(await choose([{ category: 'slow', mail: '5m' }]), 'done')
      assert.deepEqual(await decide(world, 301), [slow])
      await choose([{ category: '', mail: 'off' }])
      assert.deepEqual(await decide(world, due), [])
      const later = await send(world, ann, due, { category: 'must' })
      await choose([{ category: '', mail: null }])
      assert.deepEqual(await decide(world, due + 300), [later])
      assert.ok(plain)
    },
  )

  promise(
    'what is muted when it is due is not sent, not even later, unless it is mandatory',
    async (world) => {
      const ann = await reader(world)
      const category = { application: '', label: '"C"', description: null, mandatory: 1 } as const
      await world.store.write(putCategory, { ...category, name: 'must' })
      const mute = (mutedUntil: string | null) =>
        world.store.write(changePreferences, {
          userId: ann.id,
          choices: [{ category: '', mutedUntil }],
          now: isoAt(1),
        })
      await send(world, ann, 0, { category: 'news' })
      const must = await send(world, ann, 0, { category: 'must' })
      const later = await send(world, ann, 60, { category: 'news' })
      await mute(isoAt(due + 60))
      assert.deepEqual(await decide(world, due), [must])
      await mute(null)
      assert.deepEqual(await decide(world, due + 60), [later])
    },
  )

  promise('a delivery during a decision is in it, or has a timer of its own', async (world) => {
    const ann = await reader(world)
    const sent: string[] = []
    const mailed: string[] = []
    for (let round = 0; round < 10; round++) {
      const [id, found] = await Promise.all([send(world, ann, round), decide(world, due + round)])
      sent.push(id)
      mailed.push(...found)
    }
    mailed.push(...(await decide(world, 2 * due)))
    assert.deepEqual(mailed.sort(), sent.sort())
  })

  promise(
    'what is due while a mail waits for a limit is in that mail, but not in one that was tried',
    async (world) => {
      const { store } = world
      const ann = await reader(world)
      const sent: string[] = []
      const rowsAfter = async (seconds: number) => {
        sent.push(await send(world, ann, seconds))
        const look = { userId: ann.id, at: at(seconds + due), mailUnread, rowId: newId() } as const
        assert.equal(await store.write(decideMail, look), 1)
        return store.read(listOutbox, { limit: 9 })
      }
      const delay = async (row: OutboxRow, tries: number) => {
        const places = [{ queue: '', limit: 1 }]
        await store.write(claimOutbox, { channel: 'mail', at: at(2 * due), holder: 7, places })
        await store.write(delayInOutbox, { ...row, holder: 7, tries, reason: 'why' })
      }
      const [first = assert.fail()] = await rowsAfter(0)
      await delay(first, 0)
      const [joined = assert.fail(), ...others] = await rowsAfter(1)
      assert.deepEqual([JSON.parse(joined.ids), others], [sent, []])
      await delay(joined, 1)
      assert.equal((await rowsAfter(2)).length, 2)
      await store.write(dropFromOutbox, { ids: null })
    },
  )

  promise('an erasure removes the timer and the rows', async (world) => {
    const ann = await reader(world)
    await send(world, ann)
    await world.store.write(decideMail, { userId: ann.id, at: at(due), mailUnread, rowId: newId() })
    assert.equal((await world.store.read(listOutbox, { limit: 9 })).length, 1)
    await send(world, ann, due)
    await world.store.write(deleteUser, { userId: ann.id, at: at(due) })
    const timers = await world.store.read(dueReminders, { channels: ['mail'], at: at(9 * due) })
    assert.deepEqual(timers, [])
    assert.deepEqual(await world.store.read(listOutbox, { limit: 9 }), [])
  })
}
