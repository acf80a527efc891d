// `carillon backup`: writes everything to a new file, beside a running service.
import { Command } from 'commander'
import { refuseMissingDatabase } from '../start/database-file.ts'
import { iso } from '../times.ts'
import { configOf, withSettings } from './settings.ts'
import { interruptible } from './terminal/interruption.ts'
import { type Output, print } from './terminal/output.ts'
import { withProgress } from './terminal/progress.ts'

const more = `
The service may run meanwhile. Every row is read back and compared before the file gets its name (mode 0600); a file that
is there is never replaced. The secret that seals the signing keys is not in it: keep that in another place.

Example:
  npx carillon backup backups/monday.db`

export function backupCommand(): Command {
  const command = new Command('backup')
    .argument('<file>', 'a new file')
    .description('Write everything to a new file, beside a running service')
    .option('--portable', 'in the form that restores into every engine; PostgreSQL knows no other')
  return withSettings(command, 'backup')
    .addHelpText('after', more)
    .action((file: string, options: Output & { portable?: boolean }) => backup(command, file, options))
}

async function backup(command: Command, file: string, options: Output & { portable?: boolean }): Promise<void> {
  // Loaded here, since every start of the service reads this file.
  const { backUp } = await import('../store/transfer/backup.ts')
  const { openSource } = await import('../store/transfer/endpoint/open.ts')
  const { database } = configOf(command, 'backup')
  refuseMissingDatabase(database)
  const side = await openSource(database)
  try {
    const isPortable = options.portable ?? false
    const { form, digests: tables } = await interruptible(
      () => `Nothing is left of ${file}.`,
      () => withProgress(options, (report) => backUp(side, { file, isPortable, at: iso(Date.now()), report })),
    )
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    print(options, { file, form, rows, tables }, () => `Wrote ${rows} rows to ${file}; counts and checksums agree`)
  } finally {
    await side.close()
  }
}
