// Rehearses an upgrade with a copy of the data.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { conflict, messageOf, notFound } from '../../basics/errors.ts'
import type { Config } from '../../config/settings.ts'
import { examineDatabase } from '../../doctor/store/database.ts'
import { sizeNow } from '../../metrics/hourly.store.ts'
import { freeBytesOf } from '../../metrics/series.ts'
import { rowsOfTables } from '../../metrics/stats.store.ts'
import { openStore } from '../../open-store.ts'
import type { Database } from '../../store/database.ts'
import { knownMigrations } from '../../store/migrations.ts'
import { configOf } from '../settings.ts'
import { type Output, print, rowsIn, WrongUse } from '../terminal/output.ts'
import { interruptible, progress } from '../terminal/progress.ts'
import { backupsIn } from './restore.ts'

const help = `
Run the new program beside the old one, with the settings of the service. It fills and migrates a temporary SQLite file (below
TMPDIR), or the empty database of --into, and deletes that copy. Exit status 0 is yes, 1 is no.

Example:
  /opt/carillon-new/node_modules/.bin/carillon upgrade --rehearse`

type Options = Output & { rehearse?: true }
type Copy = AsyncDisposable & { database: Database }

export function makeCommand(): Command {
  return new Command('upgrade')
    .description('Rehearse an upgrade with the newest backup, and say yes or no')
    .option('--rehearse', 'the only thing that this command does')
    .option('--into <url>', 'an empty PostgreSQL database to fill (CARILLON_TARGET_URL)')
    .option('--json', 'one JSON value on stdout, for machines')
    .addHelpText('after', help)
    .action(upgrade)
}

async function upgrade(options: Options, command: Command): Promise<void> {
  if (!options.rehearse) throw new WrongUse('Add --rehearse: docs/upgrade.md has the other steps')
  const config = configOf(command, { into: 'CARILLON_TARGET_URL' })
  const { backupDir, target } = config
  if (backupDir === undefined) throw new WrongUse('Set CARILLON_BACKUP_DIR')
  if (target?.engine === 'sqlite') throw new WrongUse('--into takes a PostgreSQL database')
  const backup = (await backupsIn(backupDir)).find(({ problem }) => problem === null)
  if (backup === undefined) throw notFound(`${backupDir} has no backup`)
  await using copy = target === undefined ? temporaryFile() : await emptied(target)
  const left = () => (target === undefined ? '' : 'Empty the database that it filled.')
  const rehearsal = () => rehearse(config, copy.database, { ...backup, ...options })
  const { no, facts } = await interruptible(left, rehearsal).catch((error) => ({
    no: messageOf(error),
    facts: [],
  }))
  const about = `${backup.file}, taken at ${backup.takenAt} with schema ${backup.schema}`
  const verdict = no === null ? 'yes: the upgrade works with this backup' : `no: ${no}`
  print(options, { ...backup, facts, no }, () => [about, ...facts, verdict])
  if (no !== null) process.exitCode = 1
}

type Rehearsed = Output & { file: string; schema: string }

async function rehearse(config: Config, copy: Database, { file, schema, ...options }: Rehearsed) {
  const { restoreBackup } = await import('../../store/transfer/backup.ts')
  const { databasePartitions: partitions } = config
  const startedAt = performance.now()
  let restoredAt = startedAt
  const onRestored = () => {
    restoredAt = performance.now()
  }
  const tables = await restoreBackup({
    file,
    to: copy,
    partitions,
    report: progress(options),
    onRestored,
  })
  const { store } = await openStore(copy)
  const migratedAt = performance.now()
  const { bytes } = await store.read(sizeNow)
  const counts = await store.read(rowsOfTables)
  await store.close()
  const { findings } = await examineDatabase(copy, Date.now, 'deep')
  const wrong = findings.filter(({ state }) => state !== 'ok')
  const fault = wrong.find(({ check }) => check === 'database')
  const free = freeBytesOf(config.database) ?? Number.POSITIVE_INFINITY
  const rows = rowsIn(tables)
  const applied = knownMigrations().filter((name) => name > schema)
  return {
    no: fault?.found ?? (free < bytes ? 'the disk has too little room' : null),
    facts: [
      `${rows} rows restored in ${seconds(restoredAt - startedAt)}; counts and checksums agree`,
      `migrations: ${applied.join(', ') || 'none'}, in ${seconds(migratedAt - restoredAt)}`,
      `rows now: ${counts.map((one) => `${one.name} ${one.rows}`).join(', ')}`,
      `room: ${bytes} bytes`,
      ...wrong.map(({ check, state, found }) => `doctor: ${state}: ${check}: ${found}`),
    ],
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function temporaryFile(): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-rehearsal-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.on('exit', remove)
  return {
    database: { engine: 'sqlite', path: join(folder, 'carillon.db') },
    [Symbol.asyncDispose]: async () => remove(),
  }
}

/** Statements that remove all functions, then the tables whose types they have. */
const removals = `
  select format('drop table %s cascade', oid::regclass) from pg_class
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
  union all
  select format('drop function if exists %s cascade', oid::regprocedure) from pg_proc
  where pronamespace = current_schema()::regnamespace order by 1`

/** Throws CONFLICT if the database has a table or function. */
async function emptied(database: Database): Promise<Copy> {
  const { openEndpoint } = await import('../../store/transfer/endpoint/endpoint.ts')
  const statements = async (run: boolean) => {
    await using endpoint = await openEndpoint(database)
    const found = await endpoint.query(removals)
    for (const [text] of run ? found : []) await endpoint.query(String(text))
    return { name: endpoint.name, count: found.length }
  }
  const { name, count } = await statements(false)
  if (count > 0) throw conflict(`${name} is not empty, and was left as it is`, 'Name an empty one.')
  return { database, [Symbol.asyncDispose]: async () => void (await statements(true)) }
}
