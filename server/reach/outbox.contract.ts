import assert from 'node:assert/strict'
import { listAudit } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { at, newId, type PromiseOf, type World } from '../contract/world.ts'
import { deleteUser } from '../users/erasure/erasure.store.ts'
import {
  addToOutbox,
  claimOutbox,
  delayInOutbox,
  dropFromOutbox,
  dueQueues,
  freeOutbox,
  joinOutbox,
  listOutbox,
  maxJoined,
  removeFromOutbox,
  retryOutbox,
} from './outbox.store.ts'

/** The number of a process that is gone: the tests' own process has another one. */
const gone = 7

async function add({ store }: World, seconds: number, ownerId = '', queue = ''): Promise<string> {
  const id = newId()
  const channel = 'mail' as const
  const row = {
    id,
    kind: 'test',
    dueAt: at(seconds),
    ownerId,
    channel,
    queue,
    target: 'a@example.org',
    ids: '[]',
    at: at(0),
  }
  await store.write(addToOutbox, row)
  return id
}

const holderOf = ({ store }: World) => store.holder() ?? assert.fail('the store has no number')

async function claim(
  world: World,
  seconds: number,
  holder = holderOf(world),
  limit = 100,
  queue = '',
): Promise<string[]> {
  const rows = await world.store.write(claimOutbox, {
    holder,
    channel: 'mail',
    at: at(seconds),
    places: [{ queue, limit }],
  })
  return rows.map(({ id }) => id)
}

const listed = async ({ store }: World) => store.read(listOutbox, { limit: 1_000 })

export function outboxPromises(promise: PromiseOf): void {
  promise(
    'what is due is claimed, what has been due for longest first, and what is not due stays',
    async (world) => {
      const second = await add(world, 2)
      const first = await add(world, 1)
      const later = await add(world, 3)
      assert.deepEqual(await claim(world, 0), [])
      assert.deepEqual(await claim(world, 2, undefined, 1), [first])
      assert.deepEqual(await claim(world, 2), [second])
      assert.deepEqual(await claim(world, 9), [later])
    },
  )

  promise(
    'the rows of each queue are claimed alone, that of the row which has been due for longest first',
    async (world) => {
      const { store } = world
      const first = await add(world, 2, '', 'a')
      const second = await add(world, 1, '', 'b')
      await add(world, 3, '', 'c')
      await add(world, 9, '', 'a')
      const due = (seconds: number) => store.read(dueQueues, { channel: 'mail', at: at(seconds) })
      assert.deepEqual([await due(0), await due(2)], [[], ['b', 'a']])
      assert.deepEqual(await store.read(dueQueues, { channel: 'push', at: at(9) }), [])
      assert.deepEqual(await claim(world, 2, undefined, 9, 'a'), [first])
      // What is being sent needs no place.
      assert.deepEqual(await due(2), ['b'])
      assert.deepEqual(await claim(world, 2, undefined, 9, 'b'), [second])
    },
  )

  promise('of claims at the same time, one gets each row', async (world) => {
    const added = await Promise.all(Array.from({ length: 40 }, (_, n) => add(world, n % 4)))
    const claims = await Promise.all(
      Array.from({ length: 12 }, () => claim(world, 9, undefined, 5)),
    )
    const rest = await claim(world, 9)
    assert.deepEqual([...claims.flat(), ...rest].sort(), added.sort())
  })

  promise(
    'the rows of a process that is gone are free, and those of a living one are not',
    async (world) => {
      const id = await add(world, 1)
      assert.deepEqual(await claim(world, 1, gone), [id])
      assert.deepEqual(await claim(world, 1), [id])
      assert.deepEqual(await claim(world, 1), [])
      await world.store.write(freeOutbox, { holder: holderOf(world), channel: 'mail', kept: [] })
      assert.deepEqual(await claim(world, 1), [id])
    },
  )

  promise('a process that has lost a row neither removes nor delays it', async (world) => {
    const id = await add(world, 1)
    await claim(world, 1)
    const audit = [auditEntry(serviceSource, { event: 'send-given-up', at: at(1) })]
    await world.store.write(removeFromOutbox, { id, holder: gone, audit })
    await world.store.write(delayInOutbox, {
      id,
      holder: gone,
      dueAt: at(90),
      ids: '[]',
      tries: 3,
      reason: 'late',
    })
    const [row] = await listed(world)
    assert.deepEqual(
      [row?.id, row?.dueAt, row?.tries, row?.holder],
      [id, at(1), 0, holderOf(world)],
    )
    assert.ok(
      !(await world.store.read(listAudit, { limit: 9 })).some((entry) => entry.id === audit[0]?.id),
    )
  })

  promise(
    'a row that was delayed is due at its time, and one that was sent is gone',
    async (world) => {
      const held = { id: await add(world, 1), holder: holderOf(world) }
      await claim(world, 1)
      await world.store.write(delayInOutbox, {
        ...held,
        dueAt: at(60),
        ids: '["a"]',
        tries: 1,
        reason: 'it is away',
      })
      assert.deepEqual(await claim(world, 59), [])
      const [row] = await listed(world)
      assert.deepEqual([row?.reason, row?.ids], ['it is away', '["a"]'])
      assert.deepEqual(await claim(world, 60), [held.id])
      await world.store.write(removeFromOutbox, held)
      assert.deepEqual(await listed(world), [])
    },
  )

  promise(
    'what happens while a mail waits is in that mail, unless it is being sent',
    async (world) => {
      const ann = await world.addUser('ann')
      const channel = 'mail' as const
      const row = {
        channel,
        kind: 'notice',
        ownerId: ann.id,
        target: 'a@example.org',
        dueAt: at(1),
        at: at(0),
      }
      const join = (one: string, more = {}) =>
        world.store.write(joinOutbox, { ...row, id: newId(), joined: [one], ...more })
      await join('one')
      await join('two')
      await join('other', { target: 'b@example.org' })
      const ids = async () => (await listed(world)).map((one) => JSON.parse(one.ids)).sort()
      assert.deepEqual(await ids(), [['one', 'two'], ['other']])
      await claim(world, 1)
      await join('three')
      assert.deepEqual(await ids(), [['one', 'two'], ['other'], ['three']].sort())
      for (let n = 0; n < maxJoined; n++) await join(`${n}`)
      const longest = (await listed(world))
        .map((one) => JSON.parse(one.ids))
        .find(({ length }) => length === maxJoined)
      assert.equal(longest.at(-1), `${maxJoined - 1}`)
    },
  )

  promise(
    'an operator lets rows be due now, and removes them, but not those that are being sent',
    async (world) => {
      const sending = await add(world, 0)
      const waiting = await add(world, 50)
      await add(world, 60)
      await claim(world, 0)
      const retry = (ids: string[] | null) => world.store.write(retryOutbox, { ids, at: at(2) })
      assert.deepEqual(
        [await retry([sending]), await retry([waiting]), await retry(['none'])],
        [0, 1, 0],
      )
      assert.deepEqual(await claim(world, 2, undefined, 1), [waiting])
      assert.equal(await retry(null), 1)
      const drop = (ids: string[] | null) => world.store.write(dropFromOutbox, { ids })
      assert.deepEqual([await drop([sending]), await drop(null)], [0, 1])
      assert.deepEqual((await listed(world)).map(({ id }) => id).sort(), [sending, waiting].sort())
    },
  )

  promise('erasing a user removes what waits for the user', async (world) => {
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    await add(world, 1, ann.id)
    const kept = await add(world, 1, ben.id)
    await world.store.write(deleteUser, { userId: ann.id, at: at(5) })
    assert.deepEqual(
      (await listed(world)).map(({ id }) => id),
      [kept],
    )
  })
}
