// What is wrong with a database file, its folder and its disk? Opens the file read-only: opening it as the service does would
// create files and copy the log into the database.
import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { quoted } from '../../basics/shell-path.ts'
import { knownMigrations } from '../../store/migrations.ts'
import {
  corrupt,
  Database,
  isOurs,
  notOurs,
  openingFailure,
  readHeader,
  refuseOldSqlite,
  resultCode,
} from '../../store/sqlite/database.ts'
import { hasForeignLog } from '../../store/sqlite/file/identity.ts'
import { appliedMigrations } from '../../store/sqlite/migrate.ts'
import { ownersBeside, readOnlyMount, rightsOf } from '../file-mode.ts'
import { type Finding, fault, faultOf, ok, warning } from '../finding.ts'
import { clockFinding } from '../machine.ts'
import { processesWith, processFindings } from '../processes.ts'
import { type Examination, type Examined, examineContent, schemaFinding, unread } from './findings.ts'

const migrations = new URL('../../store/sqlite/schema/', import.meta.url)
const mebibyte = 2 ** 20
const minFree = 64 * mebibyte
const enoughFree = 512 * mebibyte
const maxDamages = 100
const largeLog = 256 * mebibyte
const nameAnother = 'Name another file in CARILLON_DATABASE_URL.'

/** `deep` also reads every page of the database, which is slow for a large one. */
export async function examineSqlite(file: string, { now, deep = false }: Examination): Promise<Examined> {
  const { findings, ...sealed } = await contentOf(file, { now, deep })
  const readOnly = readOnlyMount('folder', dirname(file)) ?? readOnlyMount('database file', file)
  // There is no use in making room on it.
  const place = readOnly === undefined ? [...rights(file), ...ground(file)] : [readOnly]
  const around = [...place, clock(file, now()), ...processFindings(processesWith(file))]
  return { findings: [sqliteVersion(), ...around, ...findings], ...sealed }
}

function sqliteVersion(): Finding {
  const version = process.versions.sqlite ?? '0'
  try {
    refuseOldSqlite(version)
    return ok('SQLite', version)
  } catch (error) {
    return faultOf('SQLite', error, 'run it with a newer Node')
  }
}

function rights(file: string): Finding[] {
  const folder = dirname(file)
  const beside = filesOf(file).filter((name) => name !== file)
  const findings = [
    ...rightsOf('folder', folder),
    ...rightsOf('database file', file),
    ...beside.flatMap((name) => rightsOf('database file', name)).filter(({ state }) => state !== 'ok'),
    ...ownersBeside('database file', folder, filesOf(file)),
  ]
  const firstSignIn = join(folder, 'first-sign-in.txt')
  if (!existsSync(firstSignIn)) return findings
  const found = `${firstSignIn} still holds the first password and key`
  return [...findings, warning('first sign-in', { found, change: `rm ${quoted(firstSignIn)}` })]
}

function filesOf(file: string): string[] {
  return ['', '-wal', '-shm'].map((ending) => `${file}${ending}`).filter((name) => existsSync(name))
}

/** https://man7.org/linux/man-pages/man2/statfs.2.html */
const networks: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'SMB',
  4266872130: 'SMB',
  16914839: '9P',
  12805120: 'Ceph',
  1397113167: 'AFS',
}

function ground(file: string): Finding[] {
  const { bavail, bsize, type } = statfsSync(dirname(file))
  const network = process.platform === 'linux' ? networks[type] : undefined
  const free = bavail * bsize
  const log = existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0
  const findings: Finding[] = []
  if (network !== undefined) {
    const found = `${dirname(file)} is on ${network}, where SQLite's log does not work`
    findings.push(
      fault('disk', { found, change: 'CARILLON_DATABASE_URL=sqlite:/a/folder/on/a/local/disk/carillon.db' }),
    )
  }
  const room = `${sizeOf(free)} free, the database has ${sizeOf(statSync(file).size + log)}`
  const makeRoom = { found: room, change: `make room on the disk of ${dirname(resolve(file))}` }
  if (free < minFree) findings.push(fault('disk', makeRoom))
  else findings.push(free < enoughFree ? warning('disk', makeRoom) : ok('disk', room))
  if (log <= largeLog) return findings
  const found = `${file}-wal has ${sizeOf(log)}: a reader that stays open prevents the checkpoint`
  return [...findings, warning('log', { found, change: `end the program that reads it: fuser ${quoted(file)}` })]
}

function sizeOf(bytes: number): string {
  const mebibytes = bytes / mebibyte
  if (mebibytes >= 10_240) return `${Math.round(mebibytes / 1024)} GiB`
  return `${mebibytes < 10 ? mebibytes.toFixed(1) : Math.round(mebibytes)} MiB`
}

function clock(file: string, now: number): Finding {
  const writtenAt = Math.max(...filesOf(file).map((name) => statSync(name).mtimeMs))
  return clockFinding('clock', { whose: 'the clock of the latest write', aheadMs: Math.max(0, writtenAt - now) })
}

async function contentOf(file: string, { now, deep }: Required<Examination>): Promise<Examined> {
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
    const database = new Database(`${pathToFileURL(path).href}?${how}`, { readOnly: true, timeout: 500 })
    try {
      const applied = appliedMigrations(database)
      const schema = schemaFinding({ applied, known: knownMigrations(migrations) })
      // The driver's rows have no prototype.
      const read = async (sql: string) => Array.from(database.prepare(sql).all(), (row) => ({ ...row }))
      const tables = 'select name from sqlite_schema'
      const header = "substr(sealed_secret, 1, instr(sealed_secret, '.') - 1)"
      const examined = await examineContent(read, { schema, applied, now: now(), tables, header })
      return deep ? { ...examined, findings: [...examined.findings, pagesOf(database, file)] } : examined
    } finally {
      database.close()
    }
  } catch (error) {
    return unread(faultOf('database', openingFailure(error, file), 'restore the backup'))
  }
}

/** https://sqlite.org/pragma.html#pragma_quick_check: every page of every table and index, but not their agreement. */
function pagesOf(database: Database, file: string): Finding {
  const damages = damagesIn(database)
  const [first] = damages
  if (first === undefined) return ok('pages', 'every page of the database was read, and none is damaged')
  const count = damages.length < maxDamages ? String(damages.length) : `${maxDamages} or more`
  return fault('pages', {
    found: `the database is damaged in ${count} ${damages.length === 1 ? 'place' : 'places'}, such as: ${first}`,
    change: `stop the service, keep ${quoted(file)} aside, and restore the backup: npx carillon restore FILE --to URL`,
  })
}

/** SQLite's message for each damaged place. Some damage makes the check itself fail. */
function damagesIn(database: Database): string[] {
  try {
    const rows = database.prepare(`pragma quick_check(${maxDamages})`).all()
    const lines = rows.flatMap(({ quick_check: text }) => String(text).split('\n'))
    return lines.filter((line) => line !== 'ok' && !line.startsWith('***'))
  } catch (error) {
    if (resultCode(error) !== corrupt) throw error
    return [(error as Error).message]
  }
}

/** Without a log no process writes, and no lock is needed. With a log its index file must exist, since SQLite would create it. */
function howToOpen(path: string): string | undefined {
  if (!existsSync(`${path}-wal`)) return 'immutable=1'
  if (existsSync(`${path}-shm`)) return 'readonly_shm=1'
  return statSync(`${path}-wal`).size === 0 ? 'immutable=1' : undefined
}
