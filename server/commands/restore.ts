// `carillon restore`: fills an empty database, of either engine, from a backup.
import { resolve } from 'node:path'
import { Command } from 'commander'
import { type Database, displayDatabase } from '../config/database-url.ts'
import { secretFileOf } from '../start/sealing-secret.ts'
import { configOf } from './settings.ts'
import { type Output, print } from './terminal/output.ts'
import { progress } from './terminal/progress.ts'

const more = `
The whole file is checked before the first row is written, and every row is read back at the end. Until then no service
and no command uses the database. If it is interrupted, run the same command again, and it continues.

Example:
  npx carillon restore backups/monday.gz --to sqlite:data/carillon.db`

export function makeCommand(): Command {
  return new Command('restore')
    .argument('<file>', 'the output of backup, of either engine')
    .description('Fill an empty database from a backup')
    .option('--to <url>', 'the empty database to fill (CARILLON_DATABASE_URL)')
    .option('--json', 'one JSON value on stdout, for machines')
    .addHelpText('after', more)
    .action(restore)
}

async function restore(file: string, options: Output, command: Command): Promise<void> {
  // Imported here, so that `carillon --help` does not load it.
  const { restoreBackup } = await import('../store/transfer/backup.ts')
  const { database: to, databasePartitions: partitions, secret } = configOf(command, { to: 'CARILLON_DATABASE_URL' })
  const tables = await restoreBackup({ file, to, partitions, report: progress(options) })
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  print(options, { file, to: displayDatabase(to), rows, tables }, () => [
    `Restored ${rows} rows to ${displayDatabase(to)}; counts and checksums agree`,
    'A user who was erased after the backup was made is there again: erase the user again',
    `Its signing keys need the secret that sealed them: ${secretAdvice(to, secret)}`,
  ])
}

function secretAdvice(to: Database, secret: string | undefined): string {
  if (secret !== undefined) return 'CARILLON_SECRET must be that secret'
  return to.engine === 'sqlite'
    ? `copy the secret to ${secretFileOf(resolve(to.path))}, with its owner (cp -a)`
    : 'set CARILLON_SECRET_FILE to the file of the secret'
}
