import assert from 'node:assert/strict'
import {
  at,
  isoAt,
  type Letter,
  newId,
  type PromiseOf,
  plainLook,
  refusedId,
} from '../contract/world.ts'
import { actsOf } from '../inbox/contract/places.contract.ts'
import { readInbox, readNotification } from '../inbox/inbox.store.ts'
import { emptyInbox } from '../inbox/inbox-state.ts'
import { contentOf } from '../inbox/notification-json.ts'
import { revokeProducer, rotateProducer } from '../producers/producers.store.ts'
import { deliver, findOutcome, removeOldDeliveries } from './delivery.store.ts'

export function deliveryPromises(promise: PromiseOf): void {
  promise(
    'delivers to every known recipient, by username or by id, and returns the result of each',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const ids = [newId(), newId(), newId(), newId()]
      const { results } = await world.deliver({
        to: [ann, { username: ben.username }, { username: 'unknown' }, { userId: newId() }],
        title: 'Hello',
        ids,
      })
      const unknown = { userId: null, id: null, status: 'unknown_recipient' }
      assert.deepEqual(results, [
        { userId: ann.id, id: ids[0], status: 'delivered' },
        { userId: ben.id, id: ids[1], status: 'delivered' },
        unknown,
        unknown,
      ])
      assert.deepEqual(await world.titles(ann), ['Hello'])
      assert.deepEqual(await world.ids(ben), [ids[1]])
    },
  )

  promise(
    'stores the content unchanged, and adds id, updatedAt, seq, count and the user’s read state',
    async (world) => {
      const ann = await world.addUser('ann')
      const odd = `"\\u00e9 é 😀 \\u2028 \\"q\\" \\\\ 'x' -- %s $1 ?"`
      const content = {
        ...contentOf({ title: '' }),
        body: odd,
        url: `"${'x'.repeat(9_000)}"`,
        data: '{"z": {"b":[1,2.50,null]}}',
      }
      const id = await world.send(ann, '', { content })
      const given = `"title":"","body":${odd},"url":${content.url},"category":null,"data":${content.data},"key":null`
      const look =
        '"actor":null,"icon":null,"actions":null,"format":"text","priority":"normal","expiresAt":null'
      const times = `"createdAt":"${isoAt(0)}","updatedAt":"${isoAt(0)}"`
      const more = `${given},${look},${times},"seq":1,"count":1`
      const text = await world.store.read(readNotification, { userId: ann.id, id })
      assert.equal(
        text,
        `{"id":"${id}",${more},"read":false,"readAt":null,"archivedAt":null,"snoozedUntil":null}`,
      )
      const { items } = await world.page({ userId: ann.id, page: 1, limit: 5, status: 'all' })
      assert.equal(items, `[${text}]`)
      await actsOf(world, ann).read(id, 7)
      const read = await world.store.read(readNotification, { userId: ann.id, id })
      const state = `"read":true,"readAt":"${isoAt(7)}","archivedAt":null,"snoozedUntil":null`
      assert.equal(read, `{"id":"${id}",${more},${state}}`)
    },
  )

  promise(
    'returns every content as it was delivered, whatever its members are, also after a replacement',
    async (world) => {
      const ann = await world.addUser('ann')
      const categories = [null, 'orders', 'null', 'x","k":"y', '\n', '😀']
      const datas = [
        null,
        {},
        { category: 'orders', data: [null], key: null },
        { a: 1, category: 'x', k: 'y', data: 2 },
      ]
      const kinds = categories.flatMap((category) => datas.map((data) => ({ category, data })))
      for (const key of [null, 'k', 'k"\n'])
        for (const [n, kind] of kinds.entries()) {
          const title = `","category":null,"data":null,"key":null ${n}`
          const given = { title, body: n % 2 === 0 ? null : 'é', url: null }
          const content = contentOf({ ...given, data: kind.data })
          const id = await world.send(ann, '', {
            content,
            category: kind.category,
            key,
            renotify: n % 3 === 0,
          })
          const text = await world.store.read(readNotification, { userId: ann.id, id })
          const sent = JSON.stringify({
            id,
            ...given,
            ...kind,
            key,
            ...plainLook,
            expiresAt: null,
            createdAt: isoAt(0),
          }).slice(0, -1)
          assert.ok(text?.startsWith(`${sent},"updatedAt":"`), `${text} has not ${sent}`)
        }
    },
  )

  promise(
    'stores one notification per key when many with that key are sent at the same time',
    async (world) => {
      const ann = await world.addUser('ann')
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          world.deliver({ to: [ann], title: `${n}`, key: 'deploy' }),
        ),
      )
      const statuses = outcomes.map(({ results }) => results[0]?.status)
      assert.equal(statuses.filter((status) => status === 'delivered').length, 1)
      assert.equal((await world.list(ann)).length, 1)
      assert.equal((await world.store.read(readInbox, ann.id)).version, 20)
    },
  )

  promise('keeps the idempotency keys of two producers apart (D1)', async (world) => {
    const ann = await world.addUser('ann')
    const producerId = await world.addProducer('other')
    await world.send(ann, 'From one', { idempotency: { key: 'k1', bodyHash: 'b1' } })
    await world.send(ann, 'From the other', {
      idempotency: { key: 'k1', bodyHash: 'b2' },
      producerId,
    })
    assert.deepEqual(await world.titles(ann), ['From the other', 'From one'])
  })

  promise(
    'delivers once when the same key and body are sent many times at the same time (D3)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const idempotency = { key: 'k1', bodyHash: 'b1' }
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () =>
          world.deliver({ to: [ann, ben, { username: 'unknown' }], title: 'Once', idempotency }),
        ),
      )
      for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0])
      for (const person of [ann, ben]) assert.deepEqual(await world.titles(person), ['Once'])
    },
  )

  promise(
    'delivers one of several bodies that are sent with the same key at the same time (D2)',
    async (world) => {
      const ann = await world.addUser('ann')
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          world.store.write(
            deliver,
            world.letter({
              to: [ann],
              title: `${n}`,
              idempotency: { key: 'k1', bodyHash: `b${n}` },
            }),
          ),
        ),
      )
      assert.equal(outcomes.filter((outcome) => outcome === 'mismatch').length, 9)
      const winner = outcomes.findIndex((outcome) => outcome !== 'mismatch')
      assert.deepEqual(await world.titles(ann), [`${winner}`])
    },
  )

  promise(
    'delivers to no recipient and stores no key if the delivery to one of them fails (D3)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await world.send(ben, 'Earlier')
      const before = [await world.inboxOf(ann), await world.inboxOf(ben)]
      const letter = { to: [ann, ben], title: 'Both', idempotency: { key: 'k1', bodyHash: 'b1' } }
      await assert.rejects(world.deliver({ ...letter, ids: [newId(), refusedId] }))
      assert.deepEqual([await world.inboxOf(ann), await world.inboxOf(ben)], before)
      const { results } = await world.deliver(letter)
      assert.deepEqual(
        results.map(({ status }) => status),
        ['delivered', 'delivered'],
      )
    },
  )

  promise(
    'refuses a delivery if the key of its producer was revoked or rotated since it was checked (Z4)',
    async (world) => {
      const ann = await world.addUser('ann')
      const producerId = await world.addProducer('app')
      const other = await world.addProducer('other')
      const idempotency = { key: 'k1', bodyHash: 'b1' }
      const deliverWith = (secretHash: string, letter: Partial<Letter> = {}) =>
        world.store.write(deliver, {
          ...world.letter({ to: [ann], producerId, ...letter }),
          secretHash,
        })
      const checked = `hash of ${producerId}`
      assert.equal(typeof (await deliverWith(checked, { title: 'Before', idempotency })), 'object')
      await world.store.write(rotateProducer, {
        producerId,
        secretHash: 'rotated',
        previousUntil: at(9),
      })
      assert.equal(await deliverWith(checked), 'refused')
      assert.equal(typeof (await deliverWith('rotated', { title: 'Rotated' })), 'object')
      await world.store.write(revokeProducer, { producerId, at: at(1) })
      for (const letter of [
        {},
        { key: 'deploy' },
        { idempotency },
        { to: [{ username: 'unknown' }] },
      ])
        assert.equal(await deliverWith('rotated', letter), 'refused')
      const together = [
        deliverWith('rotated'),
        deliverWith(`hash of ${other}`, { title: 'Other', producerId: other }),
      ]
      assert.deepEqual(
        (await Promise.all(together)).map((outcome) => outcome === 'refused'),
        [true, false],
      )
      assert.deepEqual(await world.titles(ann), ['Other', 'Rotated', 'Before'])
    },
  )

  promise(
    'finds the outcome of a delivery by producer, idempotency key and body (R18)',
    async (world) => {
      const ann = await world.addUser('ann')
      const { producerId } = world
      const used = { producerId, key: 'k1', bodyHash: 'b1' }
      const find = (change = {}) => world.store.read(findOutcome, { ...used, ...change })
      assert.equal(await find(), undefined)
      const outcome = await world.deliver({
        to: [ann],
        title: 'Once',
        idempotency: { key: 'k1', bodyHash: 'b1' },
      })
      assert.deepEqual(await find(), outcome)
      for (const change of [
        { key: 'k2' },
        { bodyHash: 'b2' },
        { producerId: await world.addProducer('other') },
      ])
        assert.equal(await find(change), undefined)
    },
  )

  promise(
    'removes the idempotency keys that were used before a given time, and no others',
    async (world) => {
      const ann = await world.addUser('ann')
      const letter = (key: string, seconds: number) => ({
        idempotency: { key, bodyHash: 'b1' },
        at: at(seconds),
      })
      await world.send(ann, 'Old', letter('old', 9))
      await world.send(ann, 'Young', letter('young', 10))
      await world.store.write(removeOldDeliveries, at(10))
      await world.send(ann, 'Old', letter('old', 20))
      await world.send(ann, 'Young', letter('young', 20))
      assert.deepEqual(await world.titles(ann), ['Old', 'Young', 'Old'])
    },
  )

  for (const createsUsers of [false, true])
    promise(
      `delivers to a thousand ${createsUsers ? 'new users, whom it creates, ' : 'recipients '}in one step`,
      async (world) => {
        const to = createsUsers
          ? Array.from({ length: 1_000 }, (_, n) => ({ externalId: `${n}` }))
          : await world.addRecipients(1_000)
        const { results } = await world.deliver({ to, createsUsers })
        assert.equal(new Set(results.map(({ userId }) => userId)).size, 1_000)
        const inbox = { ...emptyInbox, version: 1, lastSeq: 1, total: 1, unread: 1, unseen: 1 }
        for (const { userId } of results)
          assert.deepEqual(await world.store.read(readInbox, userId ?? ''), inbox)
      },
    )
}
