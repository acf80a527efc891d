import assert from 'node:assert/strict'
import { endingOf, firstIdAt, newId, newIdBeside } from '../basics/ids.ts'
import { recount } from '../contract/random/random.ts'
import { at, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { changesSince, readInbox } from '../inbox/inbox.store.ts'
import { findSent, type Sent, withdrawSent } from './withdraw.store.ts'

const sent: Sent = {
  fromId: firstIdAt(at(1)),
  beforeId: firstIdAt(at(2)),
  ending: '',
  producer: '',
  sentUntil: at(9),
}

function deliverAt(world: World, seconds: number, to: readonly Person[], more: object = {}) {
  const id = newId(at(seconds))
  const ids = to.map(() => newIdBeside(id))
  return world.deliver({ to, ids, at: at(seconds), ...more }).then(() => id)
}

async function withdraw({ store }: World, wanted: Partial<Sent>): Promise<void> {
  const meant = { ...sent, ...wanted }
  const some = await store.read(findSent, meant, 100)
  await store.write(withdrawSent, { ...meant, some, at: at(20) })
}

export function withdrawPromises(promise: PromiseOf): void {
  promise(
    'withdraws one delivery from every inbox, and no other of the same moment',
    async (world) => {
      const people = await world.addUsers(5)
      const [ann] = people as [Person]
      const wrong = await deliverAt(world, 1, people, { title: 'wrong' })
      await deliverAt(world, 1, people, { title: 'right' })
      const ending = endingOf(wrong)
      const found = await world.store.read(findSent, { ...sent, ending }, 100)
      assert.equal(found.length, 5)
      assert.equal(new Set(found.map(({ user }) => user)).size, 5)
      const { version } = await world.store.read(readInbox, ann.id)
      await withdraw(world, { ending })
      for (const person of people) {
        assert.deepEqual(await world.titles(person), ['right'])
        await recount(world, person)
      }
      const changes = await world.store.read(changesSince, { userId: ann.id, version, limit: 9 })
      assert.deepEqual(
        changes !== 'reset' &&
          changes.changes.map((one) => (one.type === 'removed' ? one.reason : one.type)),
        ['withdrawn'],
      )
      assert.deepEqual(await world.store.read(findSent, { ...sent, ending }, 100), [])
    },
  )

  promise(
    'a delivery that is taken back leaves what another one made of its notification',
    async (world) => {
      const ann = await world.addUser('ann')
      const first = await deliverAt(world, 1, [ann], { title: 'first', key: 'job' })
      await deliverAt(world, 1.5, [ann], { title: 'second', key: 'job' })
      const meant = { ...sent, ending: endingOf(first) }
      assert.deepEqual(await world.store.read(findSent, meant, 100), [])
      await withdraw(world, { ending: endingOf(first) })
      assert.deepEqual(await world.titles(ann), ['second'])
    },
  )

  promise(
    'withdraws what a producer sent in some time, with a key or without, but not what was sent again later',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const shop = await world.addProducer('shop')
      for (const seconds of [0, 1, 2])
        await deliverAt(world, seconds, [ann, ben], { title: `${seconds}`, producerId: shop })
      await deliverAt(world, 1, [ann], { title: 'keyed', key: 'k', producerId: shop })
      await deliverAt(world, 1, [ann], { title: 'old', key: 'again', producerId: shop })
      await deliverAt(world, 12, [ann], { title: 'again', key: 'again', producerId: shop })
      await deliverAt(world, 1, [ann], { title: 'by another' })
      await deliverAt(world, 1, [ann], { title: 'by the service', producerId: 'carillon' })
      const ofShop = await world.store.read(findSent, { ...sent, producer: shop }, 100)
      assert.equal(ofShop.length, 3)
      await withdraw(world, { producer: 'shop' })
      const titles = await world.titles(ann)
      assert.deepEqual(titles.toSorted(), ['0', '2', 'again', 'by another', 'by the service'])
      assert.deepEqual((await world.titles(ben)).toSorted(), ['0', '2'])
      for (const person of [ann, ben]) await recount(world, person)
    },
  )
}
