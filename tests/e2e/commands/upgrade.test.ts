// `carillon upgrade --rehearse`: a new program tries its migrations on a copy of the newest backup.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { openWorld } from '../../support/open-world.ts'
import { newDatabase, queryAt } from '../../support/postgres.ts'
import { carillon, Folder } from '../../support/processes/carillon-process.ts'
import { CommandLine } from '../../support/processes/command-line.ts'
import { copyOfProgram, migrationFiles } from '../../support/processes/copy-of-program.ts'

const commandLine = new CommandLine()
after(() => commandLine[Symbol.asyncDispose]())

/** A database with some notifications, and its backup. */
async function served(folder: Folder) {
  const url = `sqlite:${folder.file('carillon.db')}`
  {
    await using opened = await openWorld(url)
    const people = await opened.world.addUsers(3)
    await opened.world.deliver({ to: people })
  }
  for (const name of ['backups', 'tmp']) mkdirSync(folder.file(name))
  const env = {
    CARILLON_DATABASE_URL: url,
    CARILLON_BACKUP_AT: '03:00',
    CARILLON_BACKUP_DIR: folder.file('backups'),
    TMPDIR: folder.file('tmp'),
  }
  const made = await commandLine.run(folder, ['backup', folder.file('backups/carillon-1.gz')], {
    env,
  })
  assert.equal(made.status, 0, made.stderr)
  return env
}

for (const engine of ['sqlite', 'postgres'] as const)
  test(`a new program says whether its migrations work, and leaves nothing, on ${engine}`, async (t) => {
    using folder = new Folder()
    const env = await served(folder)
    const before = readFileSync(folder.file('carillon.db'))
    const database = engine === 'postgres' ? await newDatabase({ isBare: true }) : undefined
    if (database !== undefined) t.after(database.drop)
    const target = database === undefined ? {} : { CARILLON_TARGET_URL: database.url }
    const rehearse = async (sql: string, ...args: string[]) => {
      using newProgram = new Folder()
      const files = migrationFiles(engine, sql)
      const launcher = copyOfProgram(newProgram, { version: '99.0.0', files })
      const done = await carillon(folder, ['upgrade', '--rehearse', ...args], {
        launcher,
        env: { ...env, ...target },
      })
      assert.deepEqual(readdirSync(folder.file('tmp')), [])
      if (database !== undefined) {
        const left =
          'select count(*)::int as count from pg_class where relnamespace = current_schema()::regnamespace'
        assert.equal((await queryAt(database.url, left)).rows[0].count, 0)
      }
      assert.deepEqual(readFileSync(folder.file('carillon.db')), before)
      return done
    }
    const good = await rehearse('alter table inbox add column invented text;')
    assert.equal(good.status, 0, good.stdout + good.stderr)
    assert.match(
      good.stdout,
      /carillon-1\.gz, taken at \S+Z with schema 0001-schema\n\d+ rows restored in [\d.]+ s; counts and checksums agree\nmigrations: \d{4}-\S+, in [\d.]+ s\nrows now: .*notification 3.*\nroom: \d+ bytes/,
    )
    assert.match(good.stdout, /\nyes: the upgrade works with this backup\n$/)
    const bad = await rehearse('alter table nowhere add column invented text;', '--json')
    assert.equal(bad.status, 1)
    assert.match(JSON.parse(bad.stdout).no, /nowhere/)
  })

test('a rehearsal needs a backup that is whole, and a PostgreSQL database that is empty', async (t) => {
  using folder = new Folder()
  const env = await served(folder)
  const rehearse = (more: Record<string, string>, ...args: string[]) =>
    commandLine.run(folder, ['upgrade', ...args], { env: { ...env, ...more } })
  const { url, drop } = await newDatabase()
  t.after(drop)
  const filled = await rehearse({ CARILLON_TARGET_URL: url }, '--rehearse')
  assert.equal(filled.status, 1)
  assert.match(filled.stderr, /is not empty, and was left as it is\. Name an empty one\.$/m)
  assert.equal(
    (await queryAt(url, 'select count(*)::int as count from migration')).rows[0].count,
    1,
  )
  const newer = folder.file('backups/a-weekly.gz')
  assert.equal((await commandLine.run(folder, ['backup', newer], { env })).status, 0)
  assert.match((await rehearse({}, '--rehearse')).stdout, /a-weekly\.gz, taken at/)
  rmSync(newer)
  const same = await rehearse({}, '--rehearse')
  assert.match(same.stdout, /\nmigrations: none, in /)
  const content = readFileSync(folder.file('backups/carillon-1.gz'))
  writeFileSync(folder.file('backups/carillon-1.gz'), content.subarray(0, content.length - 40))
  const cut = await rehearse({}, '--rehearse')
  assert.equal(cut.status, 1)
  assert.match(cut.stdout, /\nno: \S+carillon-1\.gz is damaged or truncated/)
  writeFileSync(folder.file('backups/carillon-1.gz'), 'no backup')
  assert.match((await rehearse({}, '--rehearse')).stderr, / has no backup$/m)
  for (const args of [[], ['--rehearse', '--into', 'sqlite:other.db']])
    assert.equal((await rehearse({}, ...args)).status, 2)
  assert.deepEqual(readdirSync(folder.file('tmp')), [])
})
