// The checks change nothing.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { record } from '../../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../../audit/entry.ts'
import { openStore } from '../../open-store.ts'
import { connect, Database } from '../../store/sqlite/database.ts'
import { contentOf, newFolder } from '../../store/sqlite/testing/folder.ts'
import { backUp } from '../../store/transfer/backup.ts'
import { report } from '../../store/transfer/testing/filled.ts'
import type { Move } from '../../store/transfer-state.ts'
import { addSigningKey } from '../../tokens/signing-keys.store.ts'
import { addUser } from '../../users/users.store.ts'
import type { Finding } from '../finding.ts'
import { examineSqlite } from './sqlite.ts'

const key = { kid: 'k', publicJwk: '{}', sealedPrivateJwk: 's', createdAt: 1, startsAt: 1 }

async function database(
  t: TestContext,
  { isRunning = false } = {},
): Promise<{ folder: string; path: string }> {
  const folder = await newFolder(t)
  const path = join(folder, 'carillon.db')
  const { store } = await openStore({ engine: 'sqlite', path })
  await store.write(addSigningKey, { key, after: null })
  if (isRunning) t.after(() => store.close())
  else await store.close()
  return { folder, path }
}

/** Every reader may write the index of a log in use. */
async function wrong(
  { folder, path }: { folder: string; path: string },
  now = Date.now,
): Promise<Finding[]> {
  const listed = () => {
    const { 'carillon.db-shm': index, ...files } = contentOf(folder)
    return { ...files, isIndexed: index !== undefined }
  }
  const before = listed()
  const { findings } = await examineSqlite(path, now)
  assert.deepEqual(listed(), before)
  return findings.filter(({ state }) => state !== 'ok')
}

function isOnly(
  findings: Finding[],
  [check, state, change]: [string, Finding['state'], RegExp | string],
): void {
  assert.deepEqual(
    findings.map((one) => [one.check, one.state]),
    [[check, state]],
    JSON.stringify(findings),
  )
  if (typeof change === 'string') assert.equal(findings[0]?.change, change)
  else assert.match(findings[0]?.change ?? '', change)
}

test('counts the usernames that are the verified address of another user', async (t) => {
  const place = await database(t)
  const { store } = await openStore({ engine: 'sqlite', path: place.path })
  const add = (username: string, email: string | null, emailVerifiedAt: number | null) =>
    store.write(addUser, {
      id: username,
      username,
      email,
      emailVerifiedAt,
      displayName: null,
      createdAt: 1,
      passwordHash: null,
    })
  await add('ann', 'Ann@example.org', 1)
  await add('ben@example.org', 'ben@example.org', 1)
  await add('kim', 'lee@example.org', null)
  await add('lee@example.org', null, null)
  assert.deepEqual(await wrong(place), [])
  await add('ann@example.org', null, null)
  await store.close()
  const [finding] = await wrong(place)
  assert.deepEqual([finding?.check, finding?.state], ['names', 'warning'])
  assert.equal(finding?.found, 'usernames that are the verified address of another user: 1')
  // The page /operator looks every ten seconds: no request waits until all users are read.
  const { findings, sealedFactors } = await examineSqlite(place.path, Date.now, 'quick')
  assert.deepEqual(
    [findings.filter(({ check }) => check === 'names'), sealedFactors],
    [[], undefined],
  )
})

test('--deep finds a damaged page, and a backup that meets one says what to do', async (t) => {
  const place = await database(t)
  const { store } = await openStore({ engine: 'sqlite', path: place.path })
  const entries = Array.from({ length: 2_000 }, () =>
    auditEntry(serviceSource, { event: 'tidying-failed', at: 1 }),
  )
  await store.write(record, entries)
  await store.close()
  const opened = connect(place.path)
  const [{ rootpage } = {}] = opened
    .prepare("select rootpage from sqlite_schema where name = 'audit'")
    .all()
  const { page_size: size } = opened.prepare('pragma page_size').get() ?? {}
  opened.close()
  const sound = await examineSqlite(place.path, Date.now, 'deep')
  assert.deepEqual(
    sound.findings.filter(({ state }) => state !== 'ok'),
    [],
  )
  const bytes = readFileSync(place.path)
  bytes.fill(0x55, (Number(rootpage) - 1) * Number(size), Number(rootpage) * Number(size))
  writeFileSync(place.path, bytes)
  const { findings } = await examineSqlite(place.path, Date.now, 'deep')
  const found = findings.filter(({ state }) => state === 'fault')
  assert.deepEqual(
    found.map(({ check }) => check),
    ['database'],
  )
  assert.match(found[0]?.found ?? '', /damaged/)
  assert.match(found[0]?.change ?? '', /restore the newest backup/)
  const file = join(place.folder, 'backup.gz')
  const backup = backUp({
    from: { engine: 'sqlite', path: place.path },
    file,
    at: '2026-01-01T00:00:00.000Z',
    report,
  })
  await assert.rejects(
    backup,
    /is damaged .* Restore a backup, .* carillon doctor --deep names what is damaged/,
  )
})

test('says which background work is behind, and by how much', async (t) => {
  const place = await database(t)
  const opened = connect(place.path)
  const now = Date.now()
  opened.exec(`
    insert into key_change values ('1', '', 'k', 'delete', null, null, ${now - 90_000}, '');
    insert into one_time_link (user_id, token_hash, purpose, created_at, expires_at)
      values ('1', 'h', 'reset', 1, ${now - 3_600_000})`)
  opened.close()
  const found = await wrong(place, () => now)
  assert.deepEqual(
    found.map((finding) => [finding.check, finding.state, finding.found]),
    [['background work', 'warning', 'it is behind: changes by key by 90 s']],
  )
})

test('finds hourly work that failed in the last hour, and none that failed before', async (t) => {
  const place = await database(t)
  const { store } = await openStore({ engine: 'sqlite', path: place.path })
  const now = Date.now()
  const failed = (at: number) =>
    store.write(record, [auditEntry(serviceSource, { event: 'tidying-failed', at })])
  await failed(now - 2 * 3_600_000)
  assert.deepEqual(await wrong(place), [])
  await failed(now - 60_000)
  await store.close()
  const [finding] = await wrong(place)
  assert.deepEqual([finding?.check, finding?.state], ['hourly work', 'fault'])
  assert.match(
    finding?.found ?? '',
    new RegExp(`^it failed at ${new Date(now - 60_000).toISOString()}`),
  )
})

test('finds nothing wrong with a sound database, in use or not, and reads its signing keys', async (t) => {
  for (const isRunning of [false, true]) {
    const place = await database(t, { isRunning })
    assert.deepEqual(await wrong(place), [])
    const { findings, signingKeys } = await examineSqlite(place.path, Date.now)
    assert.deepEqual(signingKeys, [{ ...key, retiredAt: null }])
    assert.match(
      findings.find(({ check }) => check === 'schema')?.found ?? '',
      /^\d{4}-\S+, the newest of this program$/,
    )
  }
})

test('finds nothing wrong after a crash, and leaves its log as it is', async (t) => {
  const running = await database(t, { isRunning: true })
  const folder = await newFolder(t)
  for (const ending of ['', '-wal', '-shm'])
    cpSync(`${running.path}${ending}`, join(folder, `carillon.db${ending}`))
  const place = { folder, path: join(folder, 'carillon.db') }
  assert.deepEqual(await wrong(place), [])
  rmSync(`${place.path}-shm`)
  isOnly(await wrong(place), ['schema', 'warning', 'npx carillon migrate'])
})

test('finds file modes that give access to other users', async (t) => {
  const place = await database(t)
  const { folder, path } = place
  const modes: [string, number, string, Finding['state'], string][] = [
    [path, 0o644, 'database file', 'fault', `chmod 600 ${path}`],
    [path, 0o640, 'database file', 'warning', `chmod 600 ${path}`],
    [path, 0o400, 'database file', 'fault', `chmod 600 ${path}`],
    [folder, 0o755, 'folder', 'warning', `chmod 700 ${folder}`],
    [folder, 0o777, 'folder', 'fault', `chmod 700 ${folder}`],
    [folder, 0o500, 'folder', 'fault', `chmod 700 ${folder}`],
  ]
  for (const [what, mode, check, state, change] of modes) {
    const usual = what === folder ? 0o700 : 0o600
    chmodSync(what, mode)
    const found = await wrong(place)
    chmodSync(what, usual)
    // For a user other than root there is a second finding: the file cannot be written.
    isOnly(found.slice(0, 1), [check, state, change])
    assert.deepEqual(await wrong(place), [])
  }
})

test('as root, finds a folder and files that the service cannot use, by the owner of the folder around them (R17)', {
  skip: process.geteuid?.() !== 0,
}, async (t) => {
  const service = 65_534
  const around = await newFolder(t)
  chownSync(around, service, service)
  const folder = join(around, 'restored')
  const path = join(folder, 'carillon.db')
  await (await openStore({ engine: 'sqlite', path })).store.close()
  assert.deepEqual(await wrong({ folder, path }), [])
  const previous = join(folder, 'carillon.secret.previous')
  const files = [path, previous]
  writeFileSync(previous, 'x', { mode: 0o600 })
  chownSync(previous, service, service)
  for (const [what, check] of [
    [folder, 'folder'],
    ...files.map((file) => [file, 'database file']),
  ] as const) {
    chownSync(what, 0, 0)
    const found = (await wrong({ folder, path })).find(({ found: text }) =>
      text.startsWith(`${what} belongs to user 0`),
    )
    assert.deepEqual([found?.check, found?.state], [check, 'fault'], what)
    assert.match(found?.found ?? '', /, and the folder around it to user 65534$/)
    spawnSync('sh', ['-c', found?.change ?? ''])
    assert.deepEqual(await wrong({ folder, path }), [], what)
  }
  // A service of another user, in a folder of root.
  chownSync(around, 0, 0)
  chownSync(folder, 0, 0)
  const [found] = await wrong({ folder, path })
  assert.deepEqual([found?.check, found?.state], ['database file', 'fault'])
  spawnSync('sh', ['-c', found?.change ?? ''])
  assert.deepEqual(await wrong({ folder, path }), [])
})

test('finds a file beside the database that every user may read, such as a secret of before', async (t) => {
  const place = await database(t)
  const file = join(place.folder, 'carillon.secret.until-2026-12-31')
  writeFileSync(file, 'x')
  chmodSync(file, 0o644)
  isOnly(await wrong(place), ['database file', 'fault', `chmod 600 ${file}`])
})

test('finds a first sign-in that was not removed, with a shell command that removes it', async (t) => {
  const folder = join(await newFolder(t), "Ann's data")
  mkdirSync(folder, { mode: 0o700 })
  const path = join(folder, 'carillon.db')
  await (await openStore({ engine: 'sqlite', path })).store.close()
  const file = join(folder, 'first-sign-in.txt')
  writeFileSync(file, '', { mode: 0o600 })
  const [found] = await wrong({ folder, path })
  assert.equal(found?.check, 'first sign-in')
  spawnSync('sh', ['-c', found?.change ?? ''])
  assert.deepEqual(await wrong({ folder, path }), [])
})

test('finds a schema that is newer, older or missing', async (t) => {
  const place = await database(t)
  const change = (sql: string) => {
    const open = connect(place.path)
    open.exec(sql)
    open.close()
  }
  change("insert into migration values ('9999-future', '2030-01-01T00:00:00.000Z')")
  isOnly(await wrong(place), ['schema', 'fault', /run the version that applied it, or a later one/])
  change('delete from migration')
  isOnly(await wrong(place), ['schema', 'warning', 'npx carillon migrate'])
  change('drop table migration')
  isOnly(await wrong(place), ['schema', 'warning', 'npx carillon migrate'])
})

const stateOfMove = (endedAt: number | null) =>
  JSON.stringify({ id: 'm', target: 'B', startedAt: 0, endedAt } satisfies Move)

test('finds an unfinished move, and a database that was moved to another one', async (t) => {
  const place = await database(t)
  const moving = connect(place.path)
  moving.exec('create table carillon_moving (state text primary key)')
  moving.prepare('insert into carillon_moving values (?)').run(stateOfMove(null))
  moving.close()
  const change = /^run the same move again; or give it up: npx carillon move --give-up --from THIS /
  isOnly((await wrong(place)).slice(-1), ['move', 'fault', change])
  assert.match(
    (await wrong(place)).at(-1)?.found ?? '',
    /^it is being moved to B since 1970-01-01T/,
  )
  const open = connect(place.path)
  open.prepare('update carillon_moving set state = ?').run(stateOfMove(1_000))
  open.close()
  const [done] = (await wrong(place)).slice(-1)
  assert.equal(
    done?.found,
    'it was moved to B at 1970-01-01T00:00:01.000Z, and has accepted no writes since then',
  )
  assert.match(done?.change ?? '', /^set CARILLON_DATABASE_URL to the new one; or give it up: /)
})

test('finds a file that is not a database, a database of another program, a damaged one, and a folder', async (t) => {
  const { path: original } = await database(t)
  const damaged = readFileSync(original).fill(0xa5, 100)
  const another = /^Name another file in CARILLON_DATABASE_URL\.$/
  const makers: [(path: string) => void, RegExp][] = [
    [(path) => writeFileSync(path, 'Dear diary', { mode: 0o600 }), another],
    [(path) => new Database(path).exec('create table diary (entry text)'), another],
    [(path) => mkdirSync(path, { mode: 0o700 }), another],
    [(path) => writeFileSync(path, damaged, { mode: 0o600 }), /^Restore a backup/],
  ]
  for (const [make, change] of makers) {
    const folder = await newFolder(t)
    const path = join(folder, 'carillon.db')
    make(path)
    chmodSync(path, 0o700)
    const found = (await wrong({ folder, path })).filter(({ check }) => check === 'database')
    isOnly(found, ['database', 'fault', change])
  }
})

test('finds a clock that is behind the latest write', async (t) => {
  const place = await database(t)
  const later = Date.now() / 1000 + 3_600
  utimesSync(place.path, later, later)
  isOnly(await wrong(place), ['clock', 'fault', /^timedatectl set-ntp true/])
})
