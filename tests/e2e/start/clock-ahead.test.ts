// A service that starts with a clock 400 days ahead: it loses nothing, and says so (R16).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso } from '../../../server/basics/clock.ts'
import { newId } from '../../../server/basics/ids.ts'
import { readConfig } from '../../../server/config/read.ts'
import { World } from '../../../server/contract/world.ts'
import { examineDatabase } from '../../../server/doctor/store/database.ts'
import { readInbox } from '../../../server/inbox/inbox.store.ts'
import { contentOf } from '../../../server/inbox/notification-json.ts'
import { openStore } from '../../../server/open-store.ts'
import { startService } from '../../../server/serve.ts'
import { newDatabase } from '../../support/postgres.ts'
import { Folder } from '../../support/processes/carillon-process.ts'
import { CommandLine } from '../../support/processes/command-line.ts'
import { untilSo } from '../../support/processes/nodes.ts'

const day = 24 * 3_600_000

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`a start 400 days ahead removes nothing by age, and says so, on ${engine} (R16)`, async (t) => {
    using folder = new Folder()
    const database = engine === 'SQLite' ? undefined : await newDatabase()
    if (database !== undefined) t.after(database.drop)
    const url = database?.url ?? `sqlite:${folder.file('carillon.db')}`
    const config = readConfig({
      CARILLON_DATABASE_URL: url,
      CARILLON_SECRET: 'a secret of this test, which is long enough',
      CARILLON_PORT: '0',
      CARILLON_FIRST_START: 'off',
      CARILLON_RETENTION: '90d',
      CARILLON_AUDIT_RETENTION: '90d',
    })
    const now = Date.now() - 60_000
    const { store } = await openStore(config.database)
    const world = await World.on(store)
    const ann = await world.addUser('ann')
    await world.send(ann, 'old', { at: now, ids: [newId(now)] })
    const content = contentOf({ title: 'expires', expiresAt: iso(now + 30 * day) })
    await world.send(ann, '', { at: now, ids: [newId(now)], content })
    await store.close()
    await using commandLine = new CommandLine()
    const dryRun = await commandLine.run(folder, ['retention', '--dry-run', '1s', '--json'], {
      env: { CARILLON_DATABASE_URL: url },
    })
    assert.equal(dryRun.stderr, '')
    assert.equal(JSON.parse(dryRun.stdout).total, 2)
    let at = now + 400 * day
    const lines: { event?: string }[] = []
    const add = (line: { event?: string }) => lines.push(line)
    const log = {
      fatal: add,
      error: add,
      warn: add,
      info: add,
      debug: add,
      trace: add,
      isLevelEnabled: () => true,
      child: () => log,
    }
    const surroundings = { log, clock: { wall: () => at, monotonic: () => performance.now() } }
    const start = () =>
      startService(config, surroundings as unknown as Parameters<typeof startService>[1])
    for (let starts = 0; starts < 2; starts++) {
      const service = await start()
      assert.equal((await service.store.read(readInbox, ann.id)).total, 2)
      await service.stop()
    }
    assert.equal(lines.filter(({ event }) => event === 'clock-ahead').length, 2)
    const { findings } = await examineDatabase(config.database, () => at)
    assert.equal(findings.find(({ check }) => check === 'clock ahead')?.state, 'fault')
    at += 3_600_000
    const service = await start()
    t.after(() => service.stop())
    await untilSo(async () => (await service.store.read(readInbox, ann.id)).total < 2)
  })
