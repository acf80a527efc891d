import assert from 'node:assert/strict'
import { newOrderedId } from '../basics/ids.ts'
import { recount } from '../contract/random/random.ts'
import { at, isoAt, type PromiseOf, type World } from '../contract/world.ts'
import { actsOf } from '../inbox/contract/places.contract.ts'
import { changesSince } from '../inbox/inbox.store.ts'
import { type Content, contentOf } from '../inbox/notification-json.ts'
import { beginKeyChange, continueKeyChange, findKeyChange } from './by-key.store.ts'
import { changeByKey } from './by-key.ts'

type Change = Partial<Parameters<typeof changeByKey>[1]> & { seconds?: number }

function change({ store, producerId }: World, { seconds = 5, ...wanted }: Change) {
  const byKey = { store, wall: () => at(seconds), imageHosts: [] }
  return changeByKey(byKey, {
    producerId,
    application: '',
    key: 'k',
    kind: 'delete',
    given: null,
    ...wanted,
  })
}

export function byKeyPromises(promise: PromiseOf): void {
  for (const [kind, expected, readAt] of [
    ['update', ['changed', false], isoAt(1)],
    ['resolve', ['sent', true], isoAt(1)],
    ['delete', [], undefined],
  ] as const)
    promise(
      `changes in an inbox what has the key of its application, and no other of the key: ${kind} (U6)`,
      async (world) => {
        for (const [application, other] of [
          ['shop', ''],
          ['', 'shop'],
        ] as const) {
          const ann = await world.addUser(`ann ${application}`, 'shop')
          const key = ann.username
          await world.send(ann, 'of the other', { key, application: other })
          const id = await world.send(ann, 'sent', { key, application })
          await actsOf(world, ann).read(id, 1)
          const given = kind === 'update' ? '{"title":"changed"}' : null
          const since = { userId: ann.id, version: 3 }
          assert.deepEqual(await change(world, { kind, application, key, given }), {
            inboxes: 1,
            isDone: true,
          })
          if (kind === 'delete') {
            const found = await world.store.read(changesSince, { ...since, limit: 9 })
            assert.deepEqual(
              found !== 'reset' && found.changes.map((one) => 'reason' in one && one.reason),
              ['withdrawn'],
            )
            await assert.rejects(change(world, { application, key }), { code: 'NOT_FOUND' })
          }
          assert.equal((await world.find(ann, id))?.readAt, readAt)
          const { items } = await world.page({ userId: ann.id, page: 1, limit: 9, status: 'all' })
          const found = JSON.parse(items).flatMap(
            (one: { title: string; archivedAt: string | null }) => [
              one.title,
              one.archivedAt !== null,
            ],
          )
          assert.deepEqual(found, [...expected, 'of the other', false])
        }
      },
    )

  promise(
    'changes the members that are given, also in languages; place, read state and the other members stay',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const full = {
        title: { en: 'Order', de: 'Bestellung' },
        body: { en: 'Sent', de: 'Versandt' },
        url: '/orders/8',
        data: { order: 8 },
        actor: { name: 'Shop' },
        icon: 'money',
        format: 'markdown',
        expiresAt: isoAt(999),
      }
      const text = (content: Content) => JSON.stringify(content)
      const patches: [patch: object, becomes: Parameters<typeof contentOf>[0]][] = [
        [{ body: 'Arrived' }, { ...full, body: 'Arrived' }],
        [
          { title: 'Order 8', expiresAt: null, icon: null },
          { ...full, title: 'Order 8', expiresAt: null, icon: null },
        ],
        [
          { data: null, url: null, actor: { name: 'Ben' }, format: null, body: null },
          { ...full, data: null, url: null, actor: { name: 'Ben' }, format: null, body: null },
        ],
      ]
      for (const [n, [patch, becomes]] of patches.entries()) {
        const key = `k${n}`
        await world.deliver({ to: [ann, ben], key, category: 'a', content: contentOf(full) })
        const newer = await world.send(ben, 'newer')
        await actsOf(world, ben).read(newer, 1)
        await world.deliver({
          to: [ann],
          key: `same ${n}`,
          category: 'b',
          content: contentOf(becomes),
        })
        await change(world, {
          kind: 'update',
          key,
          given: JSON.stringify({ category: 'b', ...patch }),
        })
        const [expected, changed] = await world.list(ann, { limit: 2 })
        assert.ok(expected && changed && text(contentOf(becomes)))
        const { id, key: itsKey, createdAt } = changed
        const stays = { id, key: itsKey, createdAt, seq: expected.seq - 1 }
        assert.deepEqual(changed, { ...expected, ...stays, updatedAt: isoAt(5) })
        await recount(world, ben)
      }
      assert.deepEqual(
        (await recount(world, ann)).items.filter(({ read }) => read),
        [],
      )
    },
  )

  promise('leaves what was sent after the change: withdraw against deliver', async (world) => {
    const ann = await world.addUser('ann')
    await world.send(ann, 'first', { key: 'k', at: at(1) })
    const begun = {
      producerId: world.producerId,
      application: '',
      key: 'k',
      kind: 'delete' as const,
      given: null,
    }
    await world.store.write(beginKeyChange, {
      ...begun,
      id: newOrderedId(at(5)),
      at: at(5),
      inboxes: 1_001,
    })
    await world.send(ann, 'second', { key: 'k', at: at(6), renotify: true })
    await world.store.write(continueKeyChange, { key: 'k', application: '' })
    assert.deepEqual(await world.titles(ann), ['second'])
    // Sent before the change, by a node whose clock is ahead.
    assert.deepEqual(await change(world, { seconds: 5 }), { inboxes: 1, isDone: true })
    assert.deepEqual(await world.titles(ann), [])
    for (let round = 0; round < 20; round++) {
      const key = `race ${round}`
      await world.send(ann, 'before', { key, at: at(1) })
      const [, withdrawn] = await Promise.all([
        world.send(ann, 'again', { key, at: at(5), renotify: true }),
        change(world, { key, seconds: 5 }),
      ])
      assert.equal(withdrawn.inboxes, 1)
      const left = (await recount(world, ann)).items.filter((one) => one.key === key)
      assert.ok(left.length === 0 || (left.length === 1 && left[0]?.title === 'again'))
    }
  })

  promise(
    'reaches more than 1,000 inboxes in the background, and those of changes of one key in their order',
    async (world) => {
      const people = await world.addRecipients(1_001)
      await world.deliver({ to: people.slice(0, 1_000), key: 'k' })
      await world.deliver({ to: people.slice(1_000), key: 'k' })
      assert.deepEqual(await change(world, { kind: 'update', given: '{"title":"new"}' }), {
        inboxes: 1_001,
        isDone: false,
      })
      await world.store.write(continueKeyChange, { key: 'k', application: '' })
      assert.deepEqual(await change(world, { kind: 'resolve', seconds: 6 }), {
        inboxes: 1_001,
        isDone: false,
      })
      const turns = [1, 2].map(() => world.upkeep(7).turn())
      await Promise.all(turns)
      assert.equal(await world.store.read(findKeyChange), undefined)
      for (const { userId } of people) {
        const query = { userId, page: 1, limit: 1, status: 'archived' } as const
        const { items, inbox } = await world.page(query)
        assert.deepEqual([JSON.parse(items)[0]?.title, inbox.version], ['new', 3])
      }
    },
  )

  promise('a change of few inboxes waits for an earlier one of the key', async (world) => {
    const ann = await world.addUser('ann')
    await world.send(ann, 'first', { key: 'k' })
    const begun = {
      application: '',
      key: 'k',
      given: '{"title":"new"}',
      producerId: world.producerId,
    }
    const earlier = {
      ...begun,
      id: newOrderedId(at(4)),
      at: at(4),
      kind: 'update' as const,
      inboxes: 1_001,
    }
    assert.equal(await world.store.write(beginKeyChange, earlier), false)
    assert.deepEqual(await change(world, { kind: 'resolve' }), { inboxes: 1, isDone: true })
    const [item] = await world.list(ann, { status: 'archived' })
    assert.equal(item?.title, 'new')
    assert.equal(await world.store.read(findKeyChange), undefined)
  })

  promise(
    'an undo of an archive-read leaves archived what a resolution archived again',
    async (world) => {
      const ann = await world.addUser('ann')
      const act = actsOf(world, ann)
      const ids = [await world.send(ann, 'resolved', { key: 'k' }), await world.send(ann, 'other')]
      for (const id of ids) await act.read(id, 1)
      await act.archiveRead(2)
      await change(world, { kind: 'resolve', seconds: 3 })
      assert.equal(await act.undo(4), 'done')
      const archived = await world.list(ann, { status: 'archived' })
      assert.deepEqual(
        archived.map(({ title }) => title),
        ['resolved'],
      )
    },
  )
}
