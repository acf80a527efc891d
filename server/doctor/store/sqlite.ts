// Opening the file as the service does would create files and copy the log.
import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { quoted } from '../../basics/control-characters.ts'
import { unavailable } from '../../basics/errors.ts'
import { knownMigrations } from '../../store/migrations.ts'
import {
  Database,
  isOurs,
  notOurs,
  openingFailure,
  readHeader,
} from '../../store/sqlite/database.ts'
import { hasForeignLog, lostLogSince, readIdentity } from '../../store/sqlite/file/identity.ts'
import { appliedMigrations } from '../../store/sqlite/migrate.ts'
import { readOnlyMount, rightsOf } from '../file-mode.ts'
import { clockFinding, type Finding, fault, faultOf, ok, warning } from '../finding.ts'
import { type Depth, type Examined, examineContent, schemaFinding, unread } from './findings.ts'

const mebibyte = 2 ** 20
const minFree = 64 * mebibyte
const enoughFree = 512 * mebibyte
const nameAnother = 'Name another file in CARILLON_DATABASE_URL.'

export async function examineSqlite(
  file: string,
  now: () => number,
  depth: Depth = 'usual',
): Promise<Examined> {
  const { findings, ...sealed } = await contentOf(file, now, depth)
  const readOnly = readOnlyMount('folder', dirname(file)) ?? readOnlyMount('database file', file)
  const place = readOnly === undefined ? [...rights(file), room(file)] : [readOnly]
  const version = ok('SQLite', process.versions.sqlite ?? 'none')
  return { findings: [version, ...place, clock(file, now()), ...log(file), ...findings], ...sealed }
}

function log(file: string): Finding[] {
  const path = resolve(file)
  const since = lostLogSince(path) ?? readIdentity(path)?.lostLog
  if (since === undefined) return []
  const found = `the write-ahead log of a killed process was gone: what was written after the checkpoint at ${since} is lost`
  const change =
    'restore a backup if it has more; if not, delete carillon.identity while no process runs'
  return [fault('log', { found, change })]
}

function rights(file: string): Finding[] {
  const folder = dirname(file)
  const beginning = `${basename(file, '.db')}.`
  const others = [basename(file), `${beginning}secret`]
  const beside = readdirSync(folder).filter(
    (name) => name.startsWith(beginning) && !others.includes(name),
  )
  const findings = [
    ...rightsOf('folder', folder),
    ...rightsOf('database file', file),
    ...beside
      .flatMap((name) => rightsOf('database file', join(folder, name)))
      .filter(({ state }) => state !== 'ok'),
  ]
  const firstSignIn = join(folder, 'first-sign-in.txt')
  if (!existsSync(firstSignIn)) return findings
  const found = `${firstSignIn} still holds the first password and key`
  return [...findings, warning('first sign-in', { found, change: `rm ${quoted(firstSignIn)}` })]
}

function filesOf(file: string): string[] {
  return ['', '-wal', '-shm'].map((ending) => `${file}${ending}`).filter((name) => existsSync(name))
}

function room(file: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(file))
  const free = bavail * bsize
  const size = filesOf(file).reduce((sum, name) => sum + statSync(name).size, 0)
  const found = `${sizeOf(free)} free, the database has ${sizeOf(size)}`
  const change = `make room on the disk of ${dirname(resolve(file))}`
  if (free >= enoughFree) return ok('disk', found)
  return (free < minFree ? fault : warning)('disk', { found, change })
}

function sizeOf(bytes: number): string {
  const mebibytes = bytes / mebibyte
  if (mebibytes >= 10_240) return `${Math.round(mebibytes / 1024)} GiB`
  return `${mebibytes < 10 ? mebibytes.toFixed(1) : Math.round(mebibytes)} MiB`
}

function clock(file: string, now: number): Finding {
  const writtenAt = Math.max(...filesOf(file).map((name) => statSync(name).mtimeMs))
  return clockFinding('clock', {
    whose: 'the clock of the latest write',
    aheadMs: Math.max(0, writtenAt - now),
  })
}

async function contentOf(file: string, now: () => number, depth: Depth): Promise<Examined> {
  const path = resolve(file)
  try {
    if (!statSync(path).isFile())
      return unread(fault('database', { found: `${file} is a folder`, change: nameAnother }))
    if (!isOurs(readHeader(path))) throw notOurs(file, readHeader(path), 'CARILLON_DATABASE_URL')
    if (hasForeignLog(path)) {
      const found = `${file}-wal belongs to another database file, and would damage this one`
      const change = 'npx carillon migrate, which moves it aside, as the next start does'
      return unread(fault('log', { found, change }))
    }
    const how = howToOpen(path)
    if (how === undefined) {
      const found = `${file}-wal has writes that are not yet in the database, so the tables were not checked`
      return unread(warning('schema', { found, change: 'npx carillon migrate' }))
    }
    const database = new Database(`${pathToFileURL(path).href}?${how}`, {
      readOnly: true,
      timeout: 500,
    })
    try {
      if (depth === 'deep') refuseDamaged(database)
      const applied = appliedMigrations(database)
      const schema = schemaFinding({ applied, known: knownMigrations() })
      const read = async (sql: string) =>
        Array.from(database.prepare(sql).all(), (row) => ({ ...row }))
      const tables = 'select name from sqlite_schema'
      const header = "substr(sealed_secret, 1, instr(sealed_secret, '.') - 1)"
      return await examineContent(read, { schema, applied, now: now(), tables, header, depth })
    } finally {
      database.close()
    }
  } catch (error) {
    return unread(faultOf('database', openingFailure(error, file), 'restore the backup'))
  }
}

function refuseDamaged(database: Database): void {
  const [first] = Object.values(database.prepare('pragma integrity_check(1)').get() ?? {})
  if (first !== 'ok')
    throw unavailable(`It is damaged: ${first}`, 'keep it, and restore the newest backup')
}

/** SQLite would create a log's missing index. */
function howToOpen(path: string): string | undefined {
  if (!existsSync(`${path}-wal`)) return 'immutable=1'
  if (existsSync(`${path}-shm`)) return 'readonly_shm=1'
  return statSync(`${path}-wal`).size === 0 ? 'immutable=1' : undefined
}
