// A start says so if acknowledged writes were lost with the log (R15), and never otherwise.
import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { listAudit, record } from '../../../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../../../audit/entry.ts'
import { runs } from '../../../contract/world.ts'
import { examineSqlite } from '../../../doctor/store/sqlite.ts'
import { openStore } from '../../../open-store.ts'
import type { Notice } from '../../migrations.ts'
import type { Store } from '../../store.ts'
import { backUp } from '../../transfer/backup.ts'
import { moveDatabase } from '../../transfer/move.ts'
import { newFolder } from '../testing/folder.ts'
import { OtherProcess } from '../testing/other-process.ts'

async function write(store: Store): Promise<string> {
  const entry = auditEntry(serviceSource, { event: 'settings-changed', at: Date.now() })
  await store.write(record, [entry])
  return entry.id
}

async function start(path: string, { isWriting = true } = {}) {
  const notices: Notice[] = []
  const { store } = await openStore(
    { engine: 'sqlite', path },
    { onNotice: (notice) => notices.push(notice) },
  )
  const entries = await store.read(listAudit, { limit: 100_000 })
  if (isWriting) await write(store)
  await store.close()
  return { notices, history: store.history, ids: new Set(entries.map(({ id }) => id)) }
}

async function closedDatabase(t: TestContext): Promise<string> {
  const path = join(await newFolder(t), 'carillon.db')
  const { store } = await openStore({ engine: 'sqlite', path })
  await write(store)
  await store.close()
  return path
}

/** Another process that has the store open and has written to it. */
async function writing(t: TestContext, path: string): Promise<OtherProcess> {
  const other = await OtherProcess.start()
  t.after(() => other.kill())
  await other.open(path)
  await write(other.store)
  return other
}

async function doctorFaults(path: string): Promise<string[]> {
  const { findings } = await examineSqlite(path, Date.now)
  return findings.filter(({ state }) => state === 'fault').map(({ check }) => check)
}

const removals = {
  'the log': (path: string) => rmSync(`${path}-wal`, { force: true }),
  'the log and its index': (path: string) => {
    for (const ending of ['-wal', '-shm']) rmSync(`${path}${ending}`, { force: true })
  },
  'the content of the log': (path: string) =>
    existsSync(`${path}-wal`) && truncateSync(`${path}-wal`, 0),
  nothing: () => {},
}

test('after a kill at any moment, a start without the log says what is lost, and one with the log says nothing (R15)', async (t) => {
  let losses = 0
  const when = fc.record({
    afterWrites: fc.integer({ min: 0, max: 40 }),
    afterMs: fc.integer({ min: 0, max: 20 }),
    isClosing: fc.boolean(),
    removal: fc.constantFrom(...(Object.keys(removals) as (keyof typeof removals)[])),
  })
  const lost = {
    afterWrites: 20,
    afterMs: 5,
    isClosing: false,
    removal: 'the log and its index',
  } as const
  await fc.assert(
    fc.asyncProperty(when, async ({ afterWrites, afterMs, isClosing, removal }) => {
      const path = await closedDatabase(t)
      const before = await start(path)
      assert.deepEqual(before.notices, [])
      await using other = await OtherProcess.start()
      await other.open(path)
      const acknowledged: string[] = []
      const enough = Promise.withResolvers<void>()
      const writeForEver = async () => {
        for (;;) if (acknowledged.push(await write(other.store)) > afterWrites) enough.resolve()
      }
      const writers = Promise.allSettled([writeForEver(), writeForEver()])
      if (afterWrites > 0) await enough.promise
      if (isClosing) void other.store.close().catch(() => {})
      // Any moment of the process, which goes on meanwhile.
      await sleep(afterMs)
      await other.kill()
      await writers
      removals[removal](path)
      const faults = await doctorFaults(path)
      const after = await start(path)
      const isLost = acknowledged.some((id) => !after.ids.has(id))
      if (isLost) losses++
      if (isLost || after.notices.length > 0) {
        assert.notEqual(removal, 'nothing')
        assert.deepEqual(
          after.notices.map(({ event }) => event),
          ['log-missing'],
        )
        assert.match(after.notices[0]?.sentence ?? '', /checkpoint, at 20\d\d-/)
        assert.notEqual(after.history, before.history)
        assert.deepEqual(faults, ['log'])
        assert.deepEqual(await doctorFaults(path), ['log'], 'after the start, too')
      } else assert.equal(after.history, before.history)
      const again = await start(path)
      assert.deepEqual([again.notices, again.history], [[], after.history])
    }),
    {
      numRuns: runs(3, 120),
      examples: [[lost], [{ ...lost, removal: 'nothing' }], [{ ...lost, isClosing: true }]],
    },
  )
  assert.ok(losses > 0)
})

test('a process that is killed before it writes, or while it closes, has lost nothing with its log (R15)', async (t) => {
  const path = await closedDatabase(t)
  const { history } = await start(path)
  await using idle = await OtherProcess.start()
  await idle.open(path)
  await idle.kill()
  removals['the log and its index'](path)
  const after = await start(path)
  assert.deepEqual([after.notices, after.history], [[], history])
})

test('a command beside the service, and after it was killed, neither hides a loss nor makes one up (R15)', async (t) => {
  const path = await closedDatabase(t)
  const service = await writing(t, path)
  // The command reads and closes, and records that the file has everything.
  await start(path)
  assert.equal(JSON.parse(readFileSync(path.replace('.db', '.identity'), 'utf8')).closed, true)
  const id = await write(service.store)
  await service.kill()
  const kept = await start(path)
  assert.deepEqual([kept.notices, kept.ids.has(id)], [[], true])

  // The command is open when the service is killed, and closes last.
  const killed = await writing(t, path)
  const { store: command } = await openStore({ engine: 'sqlite', path })
  await write(killed.store)
  await killed.kill()
  await command.read(listAudit, { limit: 1 })
  await command.close()
  assert.ok(!existsSync(`${path}-wal`))
  assert.deepEqual((await start(path)).notices, [])

  const third = await writing(t, path)
  await start(path)
  await write(third.store)
  await third.kill()
  removals['the log'](path)
  assert.deepEqual(
    (await start(path)).notices.map(({ event }) => event),
    ['log-missing'],
  )
})

test('copies and replaced files are not a lost log; a copy without the log of a running service is (R15)', async (t) => {
  const path = await closedDatabase(t)
  const closed = await newFolder(t)
  copyFileSync(path, join(closed, 'carillon.db'))
  const folder = await newFolder(t)
  cpSync(join(path, '..'), folder, { recursive: true })
  const service = await writing(t, path)
  const incomplete = await newFolder(t)
  for (const name of readdirSync(join(path, '..')))
    if (!name.endsWith('-wal')) copyFileSync(join(path, '..', name), join(incomplete, name))
  await service.kill()
  removals['the log and its index'](path)
  copyFileSync(join(closed, 'carillon.db'), path)
  for (const place of [closed, folder, join(path, '..')])
    assert.deepEqual((await start(join(place, 'carillon.db'))).notices, [], place)
  const { notices } = await start(join(incomplete, 'carillon.db'))
  assert.deepEqual(
    notices.map(({ event }) => event),
    ['log-missing'],
  )
})

test('a log that is removed while the process has it open is saved by its end, which is no loss (R15)', async (t) => {
  const path = await closedDatabase(t)
  const service = await writing(t, path)
  const id = await write(service.store)
  removals['the log'](path)
  await service.store.close()
  await service.kill()
  const after = await start(path)
  assert.deepEqual([after.notices, after.ids.has(id)], [[], true])
})

test('backup and move refuse a database whose log is gone, and leave the sign of that for the next start (R15)', async (t) => {
  const path = await closedDatabase(t)
  const other = await writing(t, path)
  await other.kill()
  removals['the log and its index'](path)
  const from = { engine: 'sqlite', path } as const
  const folder = await newFolder(t)
  const to = { engine: 'sqlite', path: join(folder, 'moved.db') } as const
  const report = () => () => {}
  const refused =
    /carillon\.db-wal is gone, with what was written after 20\d\d-.* start the service once/
  const at = '2026-01-01T00:00:00.000Z'
  await assert.rejects(backUp({ from, file: join(folder, 'backup.gz'), at, report }), refused)
  await assert.rejects(
    moveDatabase({ from, to, partitions: 1, id: 'm1', now: () => 0, report }),
    refused,
  )
  const { notices } = await start(path)
  assert.deepEqual(
    notices.map(({ event }) => event),
    ['log-missing'],
  )
  await backUp({ from, file: join(folder, 'backup.gz'), at, report })
})
