import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { type CarillonError, messageOf, notFound } from '../../basics/errors.ts'
import { type Database, displayDatabase } from '../../store/database.ts'
import { secretFileOf } from '../../tokens/sealing-secret.ts'
import { configOf } from '../settings.ts'
import { type Output, print, printList, rowsIn, WrongUse } from '../terminal/output.ts'
import { progress } from '../terminal/progress.ts'

const more = `
The whole file is checked before the first row is written, and every row is read back at the end. Until then no service
and no command uses the database. If it is interrupted, run the same command again, and it continues.

Example:
  npx carillon restore --list backups
  npx carillon restore backups/monday.gz --to sqlite:data/carillon.db`

export function makeCommand(): Command {
  return new Command('restore')
    .argument('[file]', 'the output of backup, of either engine')
    .option('--list [folder]', 'only list the backups in a folder (CARILLON_BACKUP_DIR)')
    .description('Fill an empty database from a backup')
    .option('--to <url>', 'the empty database to fill (CARILLON_DATABASE_URL)')
    .option('--json', 'one JSON value on stdout, for machines')
    .addHelpText('after', more)
    .action(restore)
}

type Options = Output & { list?: true | string }

async function restore(
  file: string | undefined,
  options: Options,
  command: Command,
): Promise<void> {
  if (options.list !== undefined) return listBackups(options, command)
  if (file === undefined)
    throw new WrongUse(
      'Name the backup. carillon restore --list shows those in CARILLON_BACKUP_DIR',
    )
  const { restoreBackup } = await import('../../store/transfer/backup.ts')
  const {
    database: to,
    databasePartitions: partitions,
    secret,
  } = configOf(command, { to: 'CARILLON_DATABASE_URL' })
  const tables = await restoreBackup({ file, to, partitions, report: progress(options) })
  const rows = rowsIn(tables)
  print(options, { file, to: displayDatabase(to), rows, tables }, () => [
    `Restored ${rows} rows to ${displayDatabase(to)}; counts and checksums agree`,
    'A user who was erased after the backup was made is there again: erase the user again',
    `Its signing keys need the secret that sealed them: ${secretAdvice(to, secret)}`,
  ])
}

async function listBackups(options: Options, command: Command): Promise<void> {
  const folder = typeof options.list === 'string' ? options.list : configOf(command, {}).backupDir
  if (folder === undefined) throw new WrongUse('Name the folder, or set CARILLON_BACKUP_DIR')
  const found = await backupsIn(folder)
  printList(options, found, {
    columns: {
      'TAKEN AT': 'takenAt',
      BYTES: 'bytes',
      FILE: ({ file, problem }) => problem ?? file,
    },
    empty: `${folder} has no backups`,
  })
}

/** The newest first. `problem`: for a file that is no backup. */
export async function backupsIn(folder: string) {
  const { headerOf } = await import('../../store/transfer/backup.ts')
  const names = readFolder(folder).filter((name) => name.endsWith('.gz'))
  const files = names.map(async (name) => {
    const file = join(folder, name)
    const { size: bytes } = statSync(file)
    const found = await headerOf(file).then(
      ({ takenAt, schema }) => ({ takenAt, schema, problem: null }),
      ({ problem }: CarillonError) => ({ takenAt: '', schema: '', problem }),
    )
    return { file, bytes, ...found }
  })
  return (await Promise.all(files)).toSorted((one, other) => (one.takenAt < other.takenAt ? 1 : -1))
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    throw notFound(`${folder} cannot be read: ${messageOf(error)}`)
  }
}

function secretAdvice(to: Database, secret: string | undefined): string {
  if (secret !== undefined) return 'CARILLON_SECRET must be that secret'
  return to.engine === 'sqlite'
    ? `copy the secret to ${secretFileOf(resolve(to.path))}, with its owner (cp -a)`
    : 'set CARILLON_SECRET_FILE to the file of the secret'
}
