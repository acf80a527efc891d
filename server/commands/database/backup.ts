import { Command } from 'commander'
import { iso } from '../../basics/clock.ts'
import { refuseMissingDatabase } from '../../start/database-file.ts'
import { configOf, withSettings } from '../settings.ts'
import { type Output, print, rowsIn } from '../terminal/output.ts'
import { interruptible, progress } from '../terminal/progress.ts'

const more = `
The service may be running. Every row is read back and compared before the file gets its name (mode 0600). An existing file
is never replaced. The file does not contain the secret that seals the signing keys: store that in another place.`

export function makeCommand(): Command {
  const command = new Command('backup')
    .argument('<file>', 'a new file; with --verify, a backup')
    .option('--verify', 'only read the file from end to end, and say whether it is whole')
    .description('Write the whole database to a new file; the service may be running')
  return withSettings(command).addHelpText('after', more).action(backup)
}

async function backup(
  file: string,
  options: Output & { verify?: boolean },
  command: Command,
): Promise<void> {
  // Not loaded by `carillon --help`.
  const { backUp, verifyBackup } = await import('../../store/transfer/backup.ts')
  if (options.verify) {
    const tables = await verifyBackup(file)
    const rows = rowsIn(tables)
    return print(
      options,
      { file, rows, tables },
      () => `${file} is whole: ${rows} rows; counts and checksums agree`,
    )
  }
  const { database } = configOf(command)
  refuseMissingDatabase(database)
  const wanted = { from: database, file, at: iso(Date.now()), report: progress(options) }
  const state = () => `Nothing is left of ${file}.`
  const tables = await interruptible(state, () => backUp(wanted))
  const rows = rowsIn(tables)
  print(
    options,
    { file, rows, tables },
    () => `Wrote ${rows} rows to ${file}; counts and checksums agree`,
  )
}
