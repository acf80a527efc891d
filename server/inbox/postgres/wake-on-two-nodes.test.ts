import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newDatabase } from '../../../tests/support/postgres.ts'
import { recount } from '../../contract/random/random.ts'
import { World } from '../../contract/world.ts'
import { openPostgresStore } from '../../store/postgres/store.ts'
import { actsOf, mover } from '../contract/places.contract.ts'

const { url, drop } = await newDatabase()
const open = async () => (await openPostgresStore(url, { partitions: 3 })).store
const one = await open()
const other = await open()
after(async () => {
  await Promise.all([one.close(), other.close()])
  await drop()
})

test('wake on two nodes: a notification comes back once, with the next sequence number, whatever else each node does', async () => {
  const world = await World.on(one)
  const { ann, ids, snooze, wake, readAll } = await mover(world, 30)
  const onOther = actsOf(await World.on(other), ann)
  for (const id of ids) await snooze(id, 1, 60)
  const woken: boolean[] = []
  // More at once would wait longer for a connection than a busy machine allows.
  for (let first = 0; first < ids.length; first += 10)
    woken.push(
      ...(await Promise.all(
        ids
          .slice(first, first + 10)
          .flatMap((id, n) => [
            wake(id, 60),
            onOther.wake(id, 60),
            ...(n === 3 ? [readAll(60).then(() => false), world.send(ann).then(() => false)] : []),
            ...(n === 6
              ? [onOther.archive(id, 60).then(() => false), onOther.seen(n).then(() => false)]
              : []),
          ]),
      )),
    )
  const { inbox, items } = await recount(world, ann)
  const archived = ids.filter((_, n) => n % 10 === 6)
  // One that was archived first does not wake.
  const lost = items.filter(({ id, seq }) => archived.includes(id) && seq <= 30).length
  assert.equal(woken.filter((isWoken) => isWoken).length, 30 - lost)
  assert.deepEqual([inbox.snoozed, inbox.lastSeq, items.length], [0, 30 + 30 - lost + 3, 33])
  assert.equal(new Set(items.map(({ seq }) => seq)).size, 33)
})
