// What the store promises of deliveries: everyone who is known is told exactly once, or nobody is.
import assert from 'node:assert/strict'
import { emptyInbox } from '../store.ts'
import { at, isoAt, newId, type PromiseOf } from './world.ts'

export function deliveryPromises(promise: PromiseOf): void {
  promise('tells every recipient, by username or by id, and answers each with what became of it', async (world) => {
    const [ann, ben, cay] = [await world.addUser('ann'), await world.addUser('ben'), await world.addUser('cay')]
    const ids = [newId(), newId()]
    const { results } = await world.deliver({ to: [ann, { username: ben.username }], title: 'Hello', ids })
    assert.deepEqual(results, [
      { userId: ann.id, id: ids[0], status: 'delivered' },
      { userId: ben.id, id: ids[1], status: 'delivered' },
    ])
    assert.deepEqual(await world.titles(ann), ['Hello'])
    assert.deepEqual(await world.ids(ben), [ids[1]])
    assert.deepEqual(await world.list(cay), [])
  })

  promise('tells the known recipients and names the unknown ones', async (world) => {
    const ann = await world.addUser('ann')
    const { results } = await world.deliver({ to: [{ username: 'nobody' }, ann, { userId: newId() }] })
    const unknown = { userId: null, id: null, status: 'unknown_recipient' }
    assert.deepEqual([results[0], results[2]], [unknown, unknown])
    assert.equal(results[1]?.status, 'delivered')
    assert.equal((await world.list(ann)).length, 1)
  })

  promise('tells a recipient once who is named twice, whichever way', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const to = [ann, { username: ann.username }, ben, ann]
    for (const key of [null, 'deploy']) {
      const { results } = await world.deliver({ to, key })
      assert.deepEqual([results[1], results[3]], [results[0], results[0]])
    }
    assert.equal((await world.list(ann)).length, 2)
    assert.equal((await world.store.readInbox(ann.id)).version, 2)
    assert.equal((await world.list(ben)).length, 2)
  })

  promise('keeps the content to the letter, and adds its id and its reader’s state', async (world) => {
    const ann = await world.addUser('ann')
    const odd = `\\u00e9 é 😀 \\u2028 \\"q\\" \\\\ 'x' -- %s $1 ?`
    const content = `"z":1,"a":"${odd}","n":{"b":[1,2.50,null]},"t":"${'x'.repeat(9_000)}"`
    const id = await world.send(ann, '', { content })
    const text = await world.store.readNotification({ userId: ann.id, id })
    assert.equal(text, `{"id":"${id}",${content},"read":false,"readAt":null,"archivedAt":null}`)
    const { items } = await world.page({ userId: ann.id, page: 1, limit: 5, unreadOnly: false })
    assert.equal(items, `[${text}]`)
    await world.store.markRead({ userId: ann.id, id, at: at(7) })
    const read = await world.store.readNotification({ userId: ann.id, id })
    const state = `"read":true,"readAt":"${isoAt(7)}","archivedAt":null`
    assert.equal(read, `{"id":"${id}",${content},${state}}`)
  })

  promise('replaces the content of the notification that has the key: id, place and read state stay', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const key = 'deploy'
    const first = await world.send(ann, 'Deploying', { key })
    await world.send(ann, 'Something else')
    await world.store.markRead({ userId: ann.id, id: first, at: at(5) })
    const { results } = await world.deliver({ to: [ann, ben], title: 'Deployed', key })
    assert.deepEqual(results[0], { userId: ann.id, id: first, status: 'updated' })
    assert.equal(results[1]?.status, 'delivered')
    assert.deepEqual(await world.titles(ann), ['Something else', 'Deployed'])
    assert.deepEqual(await world.titles(ben), ['Deployed'])
    const seen = await world.find(ann, first)
    assert.deepEqual([seen?.read, seen?.readAt], [true, isoAt(5)])
    assert.equal((await world.store.readInbox(ann.id)).unread, 1)
  })

  promise('has one notification for a key, however many are sent under it at once', async (world) => {
    const ann = await world.addUser('ann')
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) => world.deliver({ to: [ann], title: `${n}`, key: 'deploy' })),
    )
    const statuses = outcomes.map(({ results }) => results[0]?.status)
    assert.equal(statuses.filter((status) => status === 'delivered').length, 1)
    assert.equal((await world.list(ann)).length, 1)
    assert.equal((await world.store.readInbox(ann.id)).version, 20)
  })

  promise('P1: answers the same key and body with the first outcome, and does nothing', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const idempotency = { key: 'k1', bodyHash: 'b1' }
    const to = [ann, { username: 'nobody' }]
    const first = await world.deliver({ to, title: 'Once', idempotency })
    const before = await world.inboxOf(ann)
    assert.deepEqual(await world.deliver({ to, title: 'Once', idempotency }), first)
    assert.deepEqual(await world.inboxOf(ann), before)
    const everything = { to: [ann, ben], idempotency: { key: 'k1', bodyHash: 'b2' } }
    assert.equal(await world.store.deliver(world.letter(everything)), 'mismatch')
    assert.deepEqual(await world.inboxOf(ann), before)
    assert.deepEqual(await world.list(ben), [])
  })

  promise('P1: does not take one producer’s idempotency key for another’s', async (world) => {
    const ann = await world.addUser('ann')
    const producerId = await world.addProducer('other')
    await world.send(ann, 'From one', { idempotency: { key: 'k1', bodyHash: 'b1' } })
    await world.send(ann, 'From the other', { idempotency: { key: 'k1', bodyHash: 'b2' }, producerId })
    assert.deepEqual(await world.titles(ann), ['From the other', 'From one'])
  })

  promise('P3: tells once, however often the same key and body come at once', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const idempotency = { key: 'k1', bodyHash: 'b1' }
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => world.deliver({ to: [ann, ben], title: 'Once', idempotency })),
    )
    for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0])
    for (const person of [ann, ben]) assert.deepEqual(await world.titles(person), ['Once'])
  })

  promise('P2: lets one body have a key that different bodies claim at once', async (world) => {
    const ann = await world.addUser('ann')
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        world.store.deliver(world.letter({ to: [ann], title: `${n}`, idempotency: { key: 'k1', bodyHash: `b${n}` } })),
      ),
    )
    assert.equal(outcomes.filter((outcome) => outcome === 'mismatch').length, 9)
    const winner = outcomes.findIndex((outcome) => outcome !== 'mismatch')
    assert.deepEqual(await world.titles(ann), [`${winner}`])
  })

  promise('P3: tells nobody and keeps no key where one recipient cannot be told', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const taken = await world.send(ben, 'Earlier')
    const before = [await world.inboxOf(ann), await world.inboxOf(ben)]
    const letter = { to: [ann, ben], title: 'Both', idempotency: { key: 'k1', bodyHash: 'b1' } }
    await assert.rejects(world.deliver({ ...letter, ids: [newId(), taken] }))
    assert.deepEqual([await world.inboxOf(ann), await world.inboxOf(ben)], before)
    const { results } = await world.deliver(letter)
    assert.deepEqual(
      results.map(({ status }) => status),
      ['delivered', 'delivered'],
    )
  })

  promise('forgets the idempotency keys that were used before a moment, and no others', async (world) => {
    const ann = await world.addUser('ann')
    const letter = (key: string, seconds: number) => ({ idempotency: { key, bodyHash: 'b1' }, at: at(seconds) })
    await world.send(ann, 'Old', letter('old', 9))
    await world.send(ann, 'Young', letter('young', 10))
    await world.store.removeOldDeliveries(at(10))
    await world.send(ann, 'Old', letter('old', 20))
    await world.send(ann, 'Young', letter('young', 20))
    assert.deepEqual(await world.titles(ann), ['Old', 'Young', 'Old'])
  })

  promise('tells a thousand recipients in one step', async (world) => {
    const people = await world.addUsers(1_000)
    const { results } = await world.deliver({ to: people })
    assert.equal(new Set(results.map(({ id }) => id)).size, 1_000)
    for (const { id } of people)
      assert.deepEqual(await world.store.readInbox(id), { ...emptyInbox, version: 1, lastSeq: 1, total: 1, unread: 1 })
  })
}
