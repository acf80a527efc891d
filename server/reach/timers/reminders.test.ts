// Whose timers does a look reach, if the decision about some users fails?
import { test } from 'node:test'
import { openWorld } from '../../../tests/support/open-world.ts'
import { Folder } from '../../../tests/support/processes/carillon-process.ts'
import { createLog } from '../../basics/log.ts'
import { at } from '../../contract/world.ts'
import { updateUser } from '../../users/users.store.ts'
import { removeTimer } from './decision.store.ts'
import { Reminders } from './reminders.ts'

test('timers that fail hold up no others, however many they are', async () => {
  using folder = new Folder()
  await using opened = await openWorld(`sqlite:${folder.file('carillon.db')}`)
  const { store, world } = opened
  const people = await world.addUsers(20)
  for (const [n, person] of people.entries()) {
    const change = { userId: person.id, email: `${n}@example.org`, emailVerifiedAt: at(0) }
    await store.write(updateUser, change)
    await world.send(person, 'Hi', { at: at(n), mailUnread: '5m' })
  }
  const last = people.at(-1)?.id
  const { promise, resolve } = Promise.withResolvers<void>()
  const decide = async ({ userId }: { userId: string }) => {
    if (userId !== last) throw new Error('it cannot be decided')
    await store.write(removeTimer, { userId, channel: 'mail' })
    resolve()
    return 1
  }
  const log = await createLog({ level: 'silent', isTerminal: false })
  const channels = { mail: { outbox: { wake() {} }, decide } }
  const reminders = new Reminders({ store, now: () => at(1_000), log, channels })
  reminders.start()
  await promise
  await reminders.end()
})
