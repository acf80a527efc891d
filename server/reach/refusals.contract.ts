import assert from 'node:assert/strict'
import { listAudit } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { at, newId, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { mailWayOf } from '../inbox/reminders.store.ts'
import { updateUser } from '../users/users.store.ts'
import { forgetRefusal, isMailRefused, maxRefused, noteRefusal } from './refusals.store.ts'
import { decideMail } from './unread/unread.store.ts'

const day = 24 * 3_600
const addressOf = ({ username }: Person) => `${username}@example.org`

async function reader(world: World, name: string): Promise<Person> {
  const person = await world.addUser(name)
  const change = { userId: person.id, email: addressOf(person), emailVerifiedAt: at(0) }
  assert.equal(await world.store.write(updateUser, change), 'done')
  return person
}

function refuse({ store }: World, person: Person, seconds: number, email = addressOf(person)) {
  const { id: userId } = person
  const audit = [auditEntry(serviceSource, { event: 'mail-stopped', at: at(seconds), userId })]
  return store.write(noteRefusal, { userId, email, at: at(seconds), audit })
}

async function isReached(world: World, person: Person, seconds: number): Promise<boolean> {
  await world.send(person, 'Hi', { at: at(seconds), mailUnread: '5m' })
  const decision = {
    userId: person.id,
    at: at(seconds + 300),
    mailUnread: '5m',
    rowId: newId(),
  } as const
  return (await world.store.write(decideMail, decision)) > 0
}

export function refusalPromises(promise: PromiseOf): void {
  promise(
    'refusals on two days stop mails until an address is verified, and one day is not enough',
    async (world) => {
      const ann = await reader(world, 'ann')
      assert.deepEqual(
        [await refuse(world, ann, 1), await refuse(world, ann, 2)],
        ['noted', 'noted'],
      )
      assert.ok(await isReached(world, ann, 3))
      assert.equal(await refuse(world, ann, day), 'stopped')
      assert.equal(await world.store.read(mailWayOf, ann.id), 'refused')
      assert.ok(!(await isReached(world, ann, day)))
      const [entry] = await world.store.read(listAudit, { userId: ann.id, limit: 1 })
      assert.equal(entry?.event, 'mail-stopped')
      assert.equal(await refuse(world, ann, 2 * day), 'noted')
      await world.store.write(forgetRefusal, ann.id)
      assert.equal(
        await world.store.read(mailWayOf, ann.id),
        'refused',
        'a mail that was on its way starts nothing',
      )
      const email = 'new@example.org'
      await world.store.write(updateUser, { userId: ann.id, email, emailVerifiedAt: at(2 * day) })
      assert.equal(await world.store.read(mailWayOf, ann.id), 'on')
      assert.ok(await isReached(world, ann, 2 * day))
      assert.equal(
        await refuse(world, ann, 3 * day, email),
        'noted',
        'refusals of the address before do not count',
      )
    },
  )

  promise(
    'a mail that was accepted in between, and a refusal of another address, do not count',
    async (world) => {
      const ann = await reader(world, 'ann')
      await refuse(world, ann, 1)
      assert.ok(await world.store.read(isMailRefused, ann.id))
      await world.store.write(forgetRefusal, ann.id)
      assert.equal(await refuse(world, ann, day), 'noted')
      assert.equal(await refuse(world, ann, 2 * day, 'former@example.org'), 'noted')
      assert.ok(await isReached(world, ann, 2 * day))
    },
  )

  promise('if more than 20 users are refused within an hour, nobody is stopped', async (world) => {
    const people: Person[] = []
    for (let n = 0; n <= maxRefused; n++) people.push(await reader(world, `user${n}`))
    for (const person of people.slice(0, 2)) await refuse(world, person, 1)
    const outcomes: string[] = []
    for (const person of people) outcomes.push(await refuse(world, person, day))
    assert.deepEqual(
      [outcomes[0], outcomes[1], outcomes[2], outcomes.at(-1)],
      ['stopped', 'stopped', 'noted', 'many'],
    )
    for (const person of people.slice(0, 2)) assert.ok(await isReached(world, person, day))
  })
}
