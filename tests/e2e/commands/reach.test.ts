// `carillon reach`: which mails would have been sent, for one user and for all, on both engines. It changes nothing.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { iso } from '../../../server/basics/clock.ts'
import { markRead } from '../../../server/inbox/marks.store.ts'
import { changePreferences } from '../../../server/preferences/preferences.store.ts'
import { listOutbox } from '../../../server/reach/outbox.store.ts'
import { noteRefusal } from '../../../server/reach/refusals.store.ts'
import { dueReminders } from '../../../server/reach/timers/decision.store.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { openWorld } from '../../support/open-world.ts'
import { newDatabase } from '../../support/postgres.ts'
import { Folder } from '../../support/processes/carillon-process.ts'
import { CommandLine } from '../../support/processes/command-line.ts'

const commandLine = new CommandLine()
after(() => commandLine[Symbol.asyncDispose]())
const minute = 60_000

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`an operator learns which mails would have left, on ${engine}`, async (t) => {
    using folder = new Folder()
    const database = engine === 'SQLite' ? undefined : await newDatabase()
    if (database !== undefined) t.after(database.drop)
    const url = database?.url ?? `sqlite:${folder.file('carillon.db')}`
    await using opened = await openWorld(url)
    const { store, world } = opened
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    const began = Date.now() - 60 * minute
    await store.write(updateUser, {
      userId: ann.id,
      email: 'ann@example.org',
      emailVerifiedAt: began,
    })
    const send = (minutes: number, more = {}) =>
      world.send(ann, 'A secret title', { at: began + minutes * minute, ...more })
    const first = await send(0)
    const second = await send(0)
    const read = await send(1)
    const late = await send(58)
    await store.write(markRead, { userId: ann.id, id: read, at: began + 5 * minute })
    await store.write(markRead, { userId: ann.id, id: first, at: began + 16 * minute })
    const never = await send(2, { category: 'ads' })
    const choices = [{ category: 'ads', mail: 'off' as const }]
    await store.write(changePreferences, { userId: ann.id, choices, now: iso(began) })
    await world.send(ben, 'Hi', { at: began })
    const run = (...args: string[]) =>
      commandLine.run(folder, ['reach', '--last', '1d', ...args], {
        env: { CARILLON_DATABASE_URL: url },
      })
    const one = JSON.parse(
      (await run('--user', ann.username, '--mail-unread', '15m', '--json')).stdout,
    )
    assert.deepEqual([one.mails, one.reached, one.mailUnread], [1, true, '15m'])
    const fates = one.items.map(({ id, fate }: { id: string; fate: string }) => [id, fate])
    assert.deepEqual(Object.fromEntries(fates), {
      [first]: 'mailed',
      [second]: 'mailed',
      [read]: 'read',
      [late]: 'waits',
      [never]: 'off',
    })
    const lines = (await run('--user', ann.username, '--mail-unread', '15m')).stdout
    assert.ok(!lines.includes('secret'))
    assert.match(lines, new RegExp(`^1 mail to ${ann.username}, of 5 notifications$`, 'm'))
    assert.match(
      (await run('--user', ben.username, '--digest', 'hourly')).stdout,
      /None would have left/,
    )
    const all = JSON.parse((await run('--all', '--mail-unread', '15m', '--json')).stdout)
    assert.deepEqual([all.users, all.unreached, all.mails, all.byUser.length], [2, 1, 1, 1])
    assert.equal(all.hours[new Date(began + 15 * minute).getUTCHours()], 1)
    assert.match((await run('--all', '--mail-unread', '15m')).stdout, /^\d\d {2}█{40} 1$/m)
    const both = await run('--all', '--mail-unread', '15m', '--digest', 'daily', '--json')
    assert.equal(JSON.parse(both.stdout).mailUnread, 'daily')
    for (const args of [['--all', '--user', 'ann'], ['--all', '--application', 'shop'], []])
      assert.equal((await run(...args)).status, 2)
    for (const day of [1, 2]) {
      const refusal = { userId: ann.id, email: 'ann@example.org', at: day * 24 * 60 * minute }
      await store.write(noteRefusal, { ...refusal, audit: [] })
    }
    assert.match((await run('--user', ann.username)).stdout, /or the mail server refuses it/)
    const none = JSON.parse((await run('--all', '--mail-unread', '15m', '--json')).stdout)
    assert.deepEqual([none.unreached, none.mails], [2, 0])
    assert.match((await run('--user', 'nobody')).stderr, /^carillon: There is no user nobody/)
    assert.deepEqual(await store.read(listOutbox, { limit: 9 }), [])
    assert.deepEqual(
      await store.read(dueReminders, { channels: ['mail'], at: Date.now() + 1_000 * minute }),
      [],
    )
  })
