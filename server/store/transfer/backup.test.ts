// Files may be truncated, changed, foreign or of another version, and the disk full.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { CarillonError } from '../../basics/errors.ts'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { openStore, usualPartitions } from '../../open-store.ts'
import { signingKey } from '../../tokens/contract/signing-keys.contract.ts'
import { addSigningKey, signingKeys } from '../../tokens/signing-keys.store.ts'
import { contentOf, newFolder } from '../sqlite/testing/folder.ts'
import { entryOf as fillingEntry } from '../transfer-state.ts'
import { backUp, restoreBackup, writeNewFile } from './backup.ts'
import { exclusively, setFilling } from './endpoint/endpoint.ts'
import { lineOf } from './rows.ts'
import { carillon } from './testing/command.ts'
import {
  checksumsAt,
  emptyPlace,
  filledPlace,
  onEndpoint,
  report,
  sqliteFile,
} from './testing/filled.ts'
import { interrupted, untilInterrupted } from './testing/interrupted.ts'
import { acceptsWrites, move } from './testing/moves.ts'

const at = '2026-01-01T00:00:00.000Z'

const backUpFrom = (url: string, file: string) =>
  backUp({ from: readDatabaseUrl(url), file, at, report })

async function newBackup(t: TestContext): Promise<{ file: string; from: string }> {
  const file = join(await newFolder(t), 'backup')
  const from = await filledPlace(t)
  await backUpFrom(from, file)
  return { file, from }
}

const restore = (file: string, to: string) =>
  restoreBackup({ file, to: readDatabaseUrl(to), partitions: usualPartitions, report })

async function isRefused(
  t: TestContext,
  { file, why }: { file: string; why: RegExp },
): Promise<void> {
  const to = await emptyPlace(t, 'sqlite')
  await assert.rejects(restore(file, to), (error) => {
    assert.ok(error instanceof CarillonError, error as Error)
    assert.match(error.message, why)
    return true
  })
  assert.equal(existsSync(sqliteFile(to)), false)
}

test('only the owner can read a backup, nothing is left beside it, and a restore changes neither', async (t) => {
  const { file } = await newBackup(t)
  assert.equal((statSync(file).mode & 0o777).toString(8), '600')
  assert.deepEqual(readdirSync(dirname(file)), ['backup'])
  chmodSync(file, 0o400)
  const before = contentOf(dirname(file))
  await restore(file, await emptyPlace(t, 'sqlite'))
  assert.deepEqual(contentOf(dirname(file)), before)
})

test('a backup never replaces a file, not even one that is created during the backup', async (t) => {
  const from = await filledPlace(t)
  const file = join(await newFolder(t), 'backup')
  writeFileSync(file, 'mine')
  await assert.rejects(backUpFrom(from, file), /already exists and was left as it is/)
  const late = join(await newFolder(t), 'late')
  await assert.rejects(
    writeNewFile(late, async () => writeFileSync(late, 'mine')),
    /already exists and was left as it is/,
  )
  assert.deepEqual(
    [file, late].map((name) => readFileSync(name, 'utf8')),
    ['mine', 'mine'],
  )
  assert.deepEqual(
    [file, late].flatMap((name) => readdirSync(dirname(name))),
    ['backup', 'late'],
  )
})

test('a backup that fails leaves nothing behind', async (t) => {
  const folder = await newFolder(t)
  const from = readDatabaseUrl(await filledPlace(t))
  const onRows = () => assert.fail('the disk is full')
  await assert.rejects(
    backUp({ from, file: join(folder, 'backup'), at, report: () => onRows }),
    /disk is full/,
  )
  assert.deepEqual(readdirSync(folder), [])
})

test('if the system refuses the file, the error says why, and before any work if possible', async (t) => {
  const folder = await newFolder(t)
  const file = join(folder, 'backup')
  const onFullDisk = async () => writeFileSync(folder, 'no disk would take this')
  await assert.rejects(
    writeNewFile(file, onFullDisk),
    /^CarillonError: .*backup cannot be written: EISDIR.* Nothing is left/,
  )
  assert.deepEqual(readdirSync(folder), [])
  const link = join(folder, 'link')
  symlinkSync(join(folder, 'nowhere'), link)
  const never = async () => assert.fail('it was known before')
  await assert.rejects(
    writeNewFile(link, never),
    /^CarillonError: .* already exists and was left as it is/,
  )
  await assert.rejects(
    writeNewFile(join(folder, 'no', 'backup'), never),
    /^CarillonError: .* cannot be written: ENOENT/,
  )
})

test('a backup that is ended by a signal leaves nothing behind, and one that is killed no file with its name', async (t) => {
  const from = await filledPlace(t, { notifications: 8_000 })
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const { folder, exitCode, printed } = await untilInterrupted(async () => {
      const place = await newFolder(t)
      const args = ['backup', join(place, 'backup')]
      const env = { CARILLON_DATABASE_URL: from }
      const ended = await interrupted({
        args,
        env,
        signal,
        isDue: () => readdirSync(place).length > 0,
      })
      return ended === undefined ? undefined : { folder: place, ...ended }
    })
    const files = readdirSync(folder).map((name) => name.replace(/\.[\da-f]{12}\./, '.*.'))
    assert.deepEqual([exitCode, files], signal === 'SIGKILL' ? [null, ['backup.*.part']] : [1, []])
    if (signal === 'SIGINT')
      assert.match(printed, /carillon: Ended by SIGINT\. Nothing is left of \S+backup\.\n$/)
    // The draft of the killed one is not in the way.
    else await backUpFrom(from, join(folder, 'backup'))
  }
})

test('a restore from a folder or a pipe is refused, and the error says why', async (t) => {
  const folder = await newFolder(t)
  const pipe = join(folder, 'pipe')
  spawnSync('mkfifo', [pipe])
  for (const file of [folder, pipe])
    await isRefused(t, { file, why: / is not a file, and restore reads it more than once$/ })
})

test('some text, and a backup that is truncated anywhere, are refused', async (t) => {
  const { file } = await newBackup(t)
  const whole = readFileSync(file)
  for (const length of [
    0,
    1,
    2,
    10,
    40,
    whole.length >> 1,
    whole.length - 9,
    whole.length - 8,
    whole.length - 1,
  ]) {
    writeFileSync(file, whole.subarray(0, length))
    await isRefused(t, { file, why: / is damaged or truncated | is not a backup of Carillon/ })
  }
  writeFileSync(file, 'some text')
  await isRefused(t, { file, why: / is not a backup of Carillon/ })
})

test('a backup that was changed anywhere is refused, even if it was compressed again', async (t) => {
  const { file } = await newBackup(t)
  const whole = readFileSync(file)
  for (let i = 10; i < whole.length; i += Math.ceil(whole.length / 40)) {
    const changed = Buffer.from(whole)
    changed[i] = (changed[i] ?? 0) ^ 0x10
    writeFileSync(file, changed)
    await isRefused(t, { file, why: / is damaged or truncated / })
  }
  const lines = gunzipSync(whole).toString().split('\n')
  const edits: ((all: string[]) => string[])[] = [
    (all) => all.toSpliced(2, 1),
    (all) => all.toSpliced(2, 0, all[2] ?? ''),
    (all) => all.with(2, withOtherWord(all[2])),
    (all) => all.with(0, (all[0] ?? '').replace('2026', '2025')),
    (all) => all.with(1, (all[1] ?? '').replace('username', 'name')),
    (all) => all.toSpliced(-2, 1),
    (all) => all.with(-3, (all.at(-3) ?? '').replace('"rows":', '"rows":1')),
    (all) => [...all.slice(0, -1), '["one more"]', ''],
    (all) => all.slice(0, -1),
    () => ['{}', ''],
    () => ['[]', ''],
    () => [''],
  ]
  for (const [n, edit] of edits.entries()) {
    const edited = edit(lines).join('\n')
    assert.notEqual(edited, lines.join('\n'), `edit ${n} changes something`)
    writeFileSync(file, gzipSync(edited))
    await isRefused(t, { file, why: / is damaged or truncated / })
  }
})

/** In the last column of words. The first row has a blank in each. */
const withOtherWord = (row = '') => row.replace(/^(.*)" "/, '$1"_"')

function checksumOf(text: string): string {
  return lineOf({ sha256: createHash('sha256').update(text).digest('hex') })
}

/** With the checksum that belongs to it. */
function withHeader(file: string, change: (header: string) => string): void {
  const lines = gunzipSync(readFileSync(file)).toString().split('\n')
  const text = `${lines
    .with(0, change(lines[0] ?? ''))
    .slice(0, -2)
    .join('\n')}\n`
  writeFileSync(file, gzipSync(text + checksumOf(text)))
}

test('a backup of another schema or file format is refused, and the error says which version restores it', async (t) => {
  for (const [found, put] of [
    [/"schema":"[^"]*"/, '"schema":"9999-later"'],
    [/"schema":"[^"]*"/, '"schema":"0000-earlier"'],
    [/"version":1/, '"version":2'],
  ] as const) {
    const { file } = await newBackup(t)
    withHeader(file, (header) => header.replace(found, put))
    await isRefused(t, {
      file,
      why: / was written by another version of Carillon \(schema .*Restore it with that version/,
    })
  }
  const { file } = await newBackup(t)
  withHeader(file, () => '{"format":"another"}')
  await isRefused(t, { file, why: / is not a backup of Carillon/ })
})

test('what the checksum of the whole file cannot find is found in the database', async (t) => {
  const { file } = await newBackup(t)
  const lines = gunzipSync(readFileSync(file)).toString().split('\n').slice(0, -2)
  const columns = (lines[1] ?? '').replace('"username"', '"username; drop table user"')
  for (const [index, line, why] of [
    [1, columns, / has other tables than what is copied to it/],
    [
      2,
      withOtherWord(lines[2]),
      / does not hold what was written to it: the rows of user differ\. /,
    ],
  ] as const) {
    const text = `${lines.with(index, line).join('\n')}\n`
    writeFileSync(file, gzipSync(text + checksumOf(text)))
    await assert.rejects(restore(file, await emptyPlace(t, 'sqlite')), why)
  }
})

test('refuses a target that is not empty and does not change it', async (t) => {
  const { file } = await newBackup(t)
  const to = await emptyPlace(t, 'sqlite')
  await restore(file, to)
  const before = await checksumsAt(to)
  await assert.rejects(
    restore(file, to),
    / is not empty, and was left as it is\. Name an empty database\.$/,
  )
  assert.deepEqual(await checksumsAt(to), before)
})

test('a restored backup of a database that is being moved accepts writes', async (t) => {
  const from = await filledPlace(t)
  const to = await emptyPlace(t, 'sqlite')
  await move(from, to)
  const file = join(await newFolder(t), 'backup')
  await backUpFrom(from, file)
  const restored = await emptyPlace(t, 'sqlite')
  await restore(file, restored)
  assert.equal(await acceptsWrites(restored), true)
})

test('a missing database is not backed up', async (t) => {
  const folder = await newFolder(t)
  const file = join(folder, 'backup')
  const bare = await emptyPlace(t, 'postgres')
  await assert.rejects(backUpFrom(bare, file), /^CarillonError: There is no Carillon database at/)
  const missing = await carillon(['backup', file], {
    CARILLON_DATABASE_URL: `sqlite:${join(folder, 'not.db')}`,
  })
  assert.deepEqual([missing.status, missing.stdout], [1, ''])
  assert.match(missing.stderr, /^carillon: There is no database [^\n]+\n$/)
  assert.deepEqual(readdirSync(folder), [])
})

test('a restore is refused beside the log of a lost or empty database', async (t) => {
  const { file } = await newBackup(t)
  const path = sqliteFile(await emptyPlace(t, 'sqlite'))
  writeFileSync(`${path}-wal`, 'a log')
  await assert.rejects(
    restore(file, `sqlite:${path}`),
    /-wal belongs to another database file, or to one that is gone/,
  )
  assert.equal(existsSync(path), false)
  writeFileSync(path, '')
  await assert.rejects(
    restore(file, `sqlite:${path}`),
    /-wal belongs to another database file, or to one that is gone/,
  )
  assert.equal(readFileSync(`${path}-wal`, 'utf8'), 'a log')
})

test('the commands print what they did, as text or JSON', async (t) => {
  const from = await filledPlace(t)
  const folder = await newFolder(t)
  const file = join(folder, 'backup.gz')
  const env = { CARILLON_DATABASE_URL: from }
  const taken = await carillon(['backup', file], env)
  assert.deepEqual(
    [taken.status, taken.stderr.split('\n')[0]],
    [0, taken.stderr.match(/^Copying \d+ rows/)?.[0]],
  )
  assert.match(taken.stdout, /^Wrote \d+ rows to .*; counts and checksums agree\n$/)
  const restored = await carillon([
    'restore',
    file,
    '--to',
    `sqlite:${join(folder, 'new.db')}`,
    '--json',
  ])
  assert.deepEqual([restored.status, restored.stderr], [0, ''])
  const beside = await carillon(['restore', file, '--to', `sqlite:${join(folder, 'other.db')}`])
  assert.ok(
    beside.stdout.includes(
      `sealed them: copy the secret to ${join(folder, 'other.secret')}, with its owner (cp -a)\n`,
    ),
    beside.stdout,
  )
  const onPostgres = await carillon(['restore', file, '--to', await emptyPlace(t, 'postgres')])
  assert.match(
    onPostgres.stdout,
    /sealed them: set CARILLON_SECRET_FILE to the file of the secret\n$/,
  )
  assert.deepEqual(JSON.parse(restored.stdout).tables, await checksumsAt(from))
  assert.equal((await carillon(['restore'])).status, 2)
})

for (const engine of ['sqlite', 'postgres'] as const)
  test(`a service that opened an empty database before a restore began writes nothing into it (${engine})`, async (t) => {
    const to = await emptyPlace(t, engine)
    const { store } = await openStore(readDatabaseUrl(to))
    const entry = fillingEntry({ source: 's', run: 'r', call: 'carillon restore b.gz' })
    await onEndpoint(to, (endpoint) => exclusively(endpoint, () => setFilling(endpoint, entry)))
    const first = store.write(addSigningKey, { key: signingKey('k1'), after: null })
    await assert.rejects(first, /only a part of its rows: a restore/)
    assert.deepEqual(await store.read(signingKeys), [])
    await store.close()
  })
