// `carillon restore`: fills an empty database, of either engine, from a backup.
import { resolve } from 'node:path'
import { Command } from 'commander'
import { type Database, displayDatabase } from '../config/database-url.ts'
import { secretFileOf } from '../start/sealing-secret.ts'
import { configWith } from './settings.ts'
import { type Output, print } from './terminal/output.ts'
import { withProgress } from './terminal/progress.ts'

const more = `
The file is checked from end to end before the first row is written, and every row is read back after the last. What was
ended in the middle goes on where it was: run the same command again.

A password in an option can be seen in the process list, and is refused. Give such a URL by CARILLON_DATABASE_URL, or
by a file that CARILLON_DATABASE_URL_FILE names.

Example:
  npx carillon restore backups/monday.gz --to sqlite:data/carillon.db`

export function restoreCommand(): Command {
  return new Command('restore')
    .argument('<file>', 'what backup wrote, of either engine')
    .description('Fill an empty database from a backup')
    .option('--to <url>', 'the empty database that is filled (CARILLON_DATABASE_URL)')
    .option('--json', 'one JSON value on stdout, for machines')
    .addHelpText('after', more)
    .action(restore)
}

async function restore(file: string, options: Output & { to?: string }): Promise<void> {
  // Loaded here, since every start of the service reads this file.
  const { restoreBackup } = await import('../store/transfer/restore.ts')
  const config = configWith([{ option: 'to', name: 'CARILLON_DATABASE_URL', value: options.to }])
  const { database: to, databasePartitions: partitions } = config
  const tables = await withProgress(options, (report) => restoreBackup({ file, to, partitions, report }))
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  print(options, { file, to: displayDatabase(to), rows, tables }, () => [
    `Restored ${rows} rows to ${displayDatabase(to)}; counts and checksums agree`,
    `Its signing keys need the secret that they were sealed with: ${secretAdvice(to, config.secret)}`,
  ])
}

function secretAdvice(to: Database, secret: string | undefined): string {
  if (secret !== undefined) return 'CARILLON_SECRET has to be that one'
  return to.engine === 'sqlite' ? `put it at ${secretFileOf(resolve(to.path))}` : 'set CARILLON_SECRET_FILE to its file'
}
