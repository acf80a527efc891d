import assert from 'node:assert/strict'
import {
  at,
  isoAt,
  type Letter,
  newId,
  type Person,
  type PromiseOf,
  plainLook,
  refusedId,
} from '../contract/world.ts'
import { readCounts, readInbox, readNotification } from '../inbox/inbox.store.ts'
import { emptyInbox } from '../inbox/inbox-state.ts'
import { markRead } from '../inbox/marks.store.ts'
import { contentOf } from '../inbox/notification-json.ts'
import { revokeProducer, rotateProducer } from '../producers/producers.store.ts'
import { deliver, findOutcome, removeOldDeliveries } from './delivery.store.ts'

export function deliveryPromises(promise: PromiseOf): void {
  promise(
    'delivers to every recipient, by username or by id, and returns the result of each',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const cay = await world.addUser('cay')
      const ids = [newId(), newId()]
      const { results } = await world.deliver({
        to: [ann, { username: ben.username }],
        title: 'Hello',
        ids,
      })
      assert.deepEqual(results, [
        { userId: ann.id, id: ids[0], status: 'delivered' },
        { userId: ben.id, id: ids[1], status: 'delivered' },
      ])
      assert.deepEqual(await world.titles(ann), ['Hello'])
      assert.deepEqual(await world.ids(ben), [ids[1]])
      assert.deepEqual(await world.list(cay), [])
    },
  )

  promise('delivers to the known recipients and reports the unknown ones', async (world) => {
    const ann = await world.addUser('ann')
    const { results } = await world.deliver({
      to: [{ username: 'unknown' }, ann, { userId: newId() }],
    })
    const unknown = { userId: null, id: null, status: 'unknown_recipient' }
    assert.deepEqual([results[0], results[2]], [unknown, unknown])
    assert.equal(results[1]?.status, 'delivered')
    assert.equal((await world.list(ann)).length, 1)
  })

  promise(
    'delivers once to a recipient that is named twice, by username or by id',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const to = [ann, { username: ann.username }, ben, ann]
      for (const key of [null, 'deploy']) {
        const { results } = await world.deliver({ to, key })
        assert.deepEqual([results[1], results[3]], [results[0], results[0]])
      }
      assert.equal((await world.list(ann)).length, 2)
      assert.equal((await world.store.read(readInbox, ann.id)).version, 2)
      assert.equal((await world.list(ben)).length, 2)
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
      await world.store.write(markRead, { userId: ann.id, id, at: at(7) })
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
    'replaces the content of the notification with the same key; id, position, createdAt and read state stay',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const key = 'deploy'
      const first = await world.send(ann, 'Deploying', { key })
      await world.send(ann, 'Something else')
      await world.store.write(markRead, { userId: ann.id, id: first, at: at(5) })
      const { results } = await world.deliver({ to: [ann, ben], title: 'Deployed', key, at: at(6) })
      assert.deepEqual(results[0], { userId: ann.id, id: first, status: 'updated' })
      assert.equal(results[1]?.status, 'delivered')
      assert.deepEqual(await world.titles(ann), ['Something else', 'Deployed'])
      assert.deepEqual(await world.titles(ben), ['Deployed'])
      const seen = await world.find(ann, first)
      assert.deepEqual([seen?.read, seen?.readAt], [true, isoAt(5)])
      assert.deepEqual(
        [seen?.createdAt, seen?.updatedAt, seen?.seq, seen?.count],
        [isoAt(0), isoAt(6), 1, 1],
      )
      assert.equal((await world.store.read(readInbox, ann.id)).unread, 1)
    },
  )

  promise(
    'with `renotify` the replaced notification becomes unread and the newest, with a new seq and a count',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const key = 'deploy'
      const id = await world.send(ann, 'Deploying', { key, category: 'build' })
      await world.send(ann, 'Something else')
      await world.store.write(markRead, { userId: ann.id, id, at: at(5) })
      const again = { to: [ann, ben], key, renotify: true }
      const { results } = await world.deliver({
        ...again,
        title: 'Deployed',
        category: 'done',
        at: at(6),
      })
      assert.deepEqual(results[0], { userId: ann.id, id, status: 'updated' })
      assert.equal(results[1]?.status, 'delivered')
      const times = { createdAt: isoAt(0), updatedAt: isoAt(6), expiresAt: null }
      const unread = { read: false, readAt: null, archivedAt: null, snoozedUntil: null }
      const content = {
        title: 'Deployed',
        body: null,
        url: null,
        category: 'done',
        data: null,
        key,
      }
      const deployed = { id, ...content, ...plainLook, ...times, seq: 3, count: 2, ...unread }
      assert.deepEqual(await world.find(ann, id), deployed)
      assert.deepEqual(await world.titles(ann), ['Deployed', 'Something else'])
      const { inbox, categories } = await world.store.read(readCounts, ann.id)
      assert.deepEqual(inbox, {
        ...emptyInbox,
        version: 4,
        firstSeq: 2,
        lastSeq: 3,
        total: 2,
        unread: 2,
        unseen: 2,
      })
      assert.deepEqual({ ...categories }, { done: { total: 1, unread: 1 } })
      await world.deliver({ ...again, title: 'Deployed twice', at: at(7) })
      await world.deliver({ to: [ann], key, title: 'Quiet', at: at(8) })
      const last = await world.find(ann, id)
      assert.deepEqual(
        [last?.title, last?.seq, last?.count, last?.updatedAt],
        ['Quiet', 4, 3, isoAt(8)],
      )
      assert.deepEqual(
        (await world.list(ben)).map(({ title, seq, count }) => [title, seq, count]),
        [['Deployed twice', 2, 2]],
      )
      assert.equal((await world.store.read(readInbox, ben.id)).unread, 1)
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

  promise(
    'returns the first outcome for the same key and body, and changes nothing (D1)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const idempotency = { key: 'k1', bodyHash: 'b1' }
      const to = [ann, { username: 'unknown' }]
      const first = await world.deliver({ to, title: 'Once', idempotency })
      const before = await world.inboxOf(ann)
      assert.deepEqual(await world.deliver({ to, title: 'Once', idempotency }), first)
      assert.deepEqual(await world.inboxOf(ann), before)
      const everything = { to: [ann, ben], idempotency: { key: 'k1', bodyHash: 'b2' } }
      assert.equal(await world.store.write(deliver, world.letter(everything)), 'mismatch')
      assert.deepEqual(await world.inboxOf(ann), before)
      assert.deepEqual(await world.list(ben), [])
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
          world.deliver({ to: [ann, ben], title: 'Once', idempotency }),
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
    'a delivery that fails does not affect those that are sent at the same time',
    async (world) => {
      const people = await world.addUsers(20)
      await world.send(people[0] as Person, 'Earlier')
      const outcomes = await Promise.allSettled(
        people.map((person, n) =>
          world.deliver({ to: [person], title: `${n}`, ...(n === 0 && { ids: [refusedId] }) }),
        ),
      )
      assert.deepEqual(
        outcomes.map(({ status }) => status === 'fulfilled'),
        people.map((_, n) => n > 0),
      )
      for (const [n, person] of people.entries())
        assert.deepEqual(await world.titles(person), [n === 0 ? 'Earlier' : `${n}`])
    },
  )

  promise(
    'gives consecutive sequence numbers to deliveries to one inbox that are sent at the same time',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          world.deliver({
            to: n % 3 === 0 ? [ben, ann] : [ann],
            title: `${n}`,
            category: `c${n % 2}`,
          }),
        ),
      )
      const seqs = (await world.list(ann)).map(({ seq }) => seq)
      assert.deepEqual(
        seqs,
        Array.from({ length: 30 }, (_, n) => 30 - n),
      )
      const { inbox, categories } = await world.store.read(readCounts, ann.id)
      assert.deepEqual(inbox, {
        ...emptyInbox,
        version: 30,
        lastSeq: 30,
        total: 30,
        unread: 30,
        unseen: 30,
      })
      assert.deepEqual(
        { ...categories },
        { c0: { total: 15, unread: 15 }, c1: { total: 15, unread: 15 } },
      )
      assert.equal((await world.store.read(readInbox, ben.id)).version, 10)
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

  promise('delivers to a thousand recipients in one step', async (world) => {
    const people = await world.addRecipients(1_000)
    const { results } = await world.deliver({ to: people })
    assert.equal(new Set(results.map(({ id }) => id)).size, 1_000)
    for (const { userId } of people)
      assert.deepEqual(await world.store.read(readInbox, userId), {
        ...emptyInbox,
        version: 1,
        lastSeq: 1,
        total: 1,
        unread: 1,
        unseen: 1,
      })
  })
}
