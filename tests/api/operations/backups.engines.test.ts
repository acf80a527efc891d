// Only files of this database are removed, after the next one is there.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { claimBackup, scheduledBackups } from '../../../server/backups/backups.store.ts'
import { folderFault, lastDue, ScheduledBackups } from '../../../server/backups/schedule.ts'
import { headerOf, verifyBackup } from '../../../server/store/transfer/backup.ts'
import { startTestService } from '../../support/service.ts'

const hour = 3_600_000
const day = 24 * hour
const start = Date.UTC(2026, 5, 1, 3, 30)

async function scheduled(t: TestContext, { keep = 2 } = {}) {
  const service = await startTestService()
  const folder = mkdtempSync(join(tmpdir(), 'carillon-backups-'))
  t.after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const place = { now: start, folder }
  const events: string[] = []
  const note = ({ event }: { event: string }) => events.push(event)
  const node = (name: string) => {
    const backups = new ScheduledBackups({
      store: service.store,
      database: service.databaseSetting,
      log: { info: note, error: note } as never,
      wall: () => place.now,
      node: name,
      schedule: { atMs: 3 * hour, folder: place.folder, keep },
    })
    t.after(() => backups.end())
    return backups
  }
  const files = () => readdirSync(folder).sort()
  return { service, place, node, files, events }
}

test('of two nodes one makes the backup, which is whole, readable by its owner alone, and noted with its size', async (t) => {
  const { service, node, files, place } = await scheduled(t)
  await service.deliver({ to: await service.user(), title: 'Kept' })
  await Promise.all([node('a').run(), node('b').run()])
  assert.deepEqual(files(), ['carillon-2026-06-01T03-30-00Z.gz'])
  const path = join(place.folder, files()[0] ?? '')
  const { mode, size } = statSync(path)
  assert.equal(mode & 0o777, 0o600)
  const tables = await verifyBackup(path)
  assert.equal(tables.find(({ table }) => table === 'notification')?.rows, 1)
  assert.match((await headerOf(path)).takenAt, /^20/)
  const [row, ...others] = await service.store.read(scheduledBackups)
  assert.deepEqual([row?.path, row?.bytes, row?.failure, others], [path, size, null, []])
})

test('the oldest own backups are removed, and files that this database does not know stay', async (t) => {
  const { node, files, place } = await scheduled(t)
  const foreign = 'carillon-2020-01-01T03-00-00Z.gz'
  const leftover = 'carillon-2020-01-01T03-00-00Z.gz.0123456789ab.part'
  for (const name of [foreign, leftover]) {
    writeFileSync(join(place.folder, name), 'x')
    utimesSync(join(place.folder, name), 0, 0)
  }
  const backups = node('a')
  for (let n = 0; n < 4; n++) {
    await backups.run()
    await backups.run()
    place.now += day
  }
  assert.deepEqual(files(), [
    foreign,
    'carillon-2026-06-03T03-30-00Z.gz',
    'carillon-2026-06-04T03-30-00Z.gz',
  ])
})

test('a failure leaves the older backups, is noted with its reason, and is repeated after an hour', async (t) => {
  const { service, node, files, place, events } = await scheduled(t, { keep: 1 })
  // Kubernetes sets such names. Each command warns of them first.
  process.env.CARILLON_PORT_7464_TCP = 'tcp://10.0.0.1:7464'
  t.after(() => delete process.env.CARILLON_PORT_7464_TCP)
  await node('a').run()
  place.now += day
  const [before] = files()
  const { folder } = place
  place.folder = join(folder, 'no-folder')
  const broken = node('b')
  await broken.run()
  await broken.run()
  const [row] = await service.store.read(scheduledBackups)
  assert.match(row?.failure ?? '', /cannot be written/)
  assert.deepEqual([files(), events], [[before], ['backup-made', 'backup-failed']])
  place.folder = folder
  place.now += hour + 1
  await node('a').run()
  assert.deepEqual(files(), ['carillon-2026-06-02T04-30-00Z.gz'])
})

test('a backup whose node has died is made by another one, and a clock that is wrong for a while prevents none', async (t) => {
  const { service, node, files, place } = await scheduled(t, { keep: 9 })
  const dueAt = lastDue(start, 3 * hour)
  await service.store.write(claimBackup, { dueAt, node: 'dead', path: '/gone.gz', at: start })
  const backups = node('a')
  await backups.run()
  assert.deepEqual(files(), [])
  place.now += 6 * 60_000
  await backups.run()
  assert.equal(files().length, 1)
  place.now += 400 * day
  await backups.run()
  place.now -= 400 * day - hour
  await backups.run()
  assert.equal(files().length, 2, 'the clock was set back to a day that has its backup')
  place.now += day
  await backups.run()
  assert.equal(files().length, 3)
})

test('a service that stops ends the backup that runs, and the next start makes it', async (t) => {
  const { service, node, files } = await scheduled(t)
  const stopped = node('a')
  const running = stopped.run()
  await stopped.end()
  await running
  assert.deepEqual([files(), await service.store.read(scheduledBackups)], [[], []])
  await node('a').run()
  assert.equal(files().length, 1)
})

test('a backup is due at the same moment of each day in UTC', () => {
  const due = (text: string) => new Date(lastDue(Date.parse(text), 3 * hour)).toISOString()
  assert.equal(due('2026-06-01T02:59:59.999Z'), '2026-05-31T03:00:00.000Z')
  assert.equal(due('2026-06-01T03:00:00.000Z'), '2026-06-01T03:00:00.000Z')
})

test('a folder is created if it is missing, and one that cannot be is named', async (t) => {
  const { place } = await scheduled(t)
  const folder = join(place.folder, 'a', 'b')
  assert.equal(folderFault(folder), undefined)
  assert.deepEqual(readdirSync(folder), [])
  writeFileSync(join(folder, 'file'), '')
  assert.match(folderFault(join(folder, 'file')) ?? '', /ENOTDIR|EEXIST/)
})
