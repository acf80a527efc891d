// `carillon stats`: what a database holds, how it grows and whom it belongs to, on both engines.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { addHourly } from '../../../server/metrics/hourly.store.ts'
import { putNode } from '../../../server/metrics/nodes.store.ts'
import { openWorld } from '../../support/open-world.ts'
import { newDatabase } from '../../support/postgres.ts'
import { Folder } from '../../support/processes/carillon-process.ts'
import { CommandLine } from '../../support/processes/command-line.ts'

const commandLine = new CommandLine()
after(() => commandLine[Symbol.asyncDispose]())

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`an operator learns what grows, whose inbox it is, and when the disk is full, on ${engine}`, async (t) => {
    using folder = new Folder()
    const database = engine === 'SQLite' ? undefined : await newDatabase()
    if (database !== undefined) t.after(database.drop)
    const url = database?.url ?? `sqlite:${folder.file('carillon.db')}`
    await using opened = await openWorld(url)
    const { store, world } = opened
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    for (const to of [[ann], [ann, ben], [ann]])
      await world.deliver({ to, ids: to.map(() => newId(Date.now())) })
    const stats = async (...args: string[]) => {
      const { stdout, stderr, status } = await commandLine.run(folder, ['stats', ...args], {
        env: { CARILLON_DATABASE_URL: url },
      })
      assert.equal(status, 0, stderr)
      return stdout
    }
    assert.match(await stats(), /^database: its growth is known after two days$/m)
    const hour = Math.floor(Date.now() / 3_600_000)
    const sizeAt = (day: number) => ({
      name: 'database-mib',
      hour: hour - 24 * (9 - day),
      count: 0,
      max: 500 + 200 * day,
    })
    await store.write(
      addHourly,
      Array.from({ length: 10 }, (_, day) => sizeAt(day)),
    )
    const held = { settings: {}, streams: [{ userId: ann.id, streams: 7 }] }
    const facts = JSON.stringify(held)
    await store.write(putNode, { id: 'a', name: 'a', seenAt: Date.now(), facts })
    const found = JSON.parse(await stats('--json'))
    assert.equal(found.kibPerDay, 204_800)
    // The room on the disk of a server is not known.
    assert.equal(found.fullAt === null, engine === 'PostgreSQL')
    assert.deepEqual(
      found.largestInboxes.map(({ name, notifications }: Record<string, unknown>) => [
        name,
        notifications,
      ]),
      [
        [ann.username, 3],
        [ben.username, 1],
      ],
    )
    const { producer, delivered, read } = found.heard.items[0]
    assert.deepEqual([producer, delivered, read], ['app', 4, 0])
    assert.deepEqual(found.newestByProducer, [{ producer: 'app', notifications: 4 }])
    assert.deepEqual(found.mostStreams, [{ userId: ann.id, name: ann.username, streams: 7 }])
    assert.deepEqual(found.rows[0], { name: 'notification', rows: 4 })
    assert.match(await stats(), /^database: it grows by 204800 KiB a day/m)
    assert.match(await stats(), /^app +- +4 +0 +0 +0 +0$/m)
    assert.match(await stats(), /^background work: none is behind$/m)
  })
