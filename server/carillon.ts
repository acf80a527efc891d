// The command line: picks a command and says how it ended. Exit status 0 done, 1 failed, 2 wrong use; errors on stderr.
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { backupCommand } from './commands/backup.ts'
import { doctorCommand } from './commands/doctor.ts'
import { keyCommand } from './commands/key.ts'
import { migrateCommand } from './commands/migrate.ts'
import { moveCommand } from './commands/move.ts'
import { WrongUse } from './commands/output.ts'
import { restoreCommand } from './commands/restore.ts'
import { sendCommand } from './commands/send.ts'
import { serveCommand } from './commands/serve.ts'
import { tailCommand } from './commands/tail.ts'
import { userCommand } from './commands/user.ts'
import { CarillonError } from './errors.ts'

const { version, description } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'))

const program = new Command('carillon')
  .description(description)
  .version(version)
  .helpCommand(false)
  .showHelpAfterError('Run it with --help to see what it takes.')
  .exitOverride()
for (const command of [
  serveCommand(),
  userCommand(),
  keyCommand(),
  sendCommand(),
  tailCommand(),
  migrateCommand(),
  doctorCommand(),
  backupCommand(),
  restoreCommand(),
  moveCommand(),
])
  program.addCommand(command)
for (const command of [...program.commands, ...program.commands.flatMap(({ commands }) => commands)])
  command.copyInheritedSettings(program).exitOverride().helpCommand(false)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

function report(error: unknown): number {
  // Commander has written its own sentence, or its help (status 0).
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const isOurs = error instanceof CarillonError || error instanceof WrongUse
  process.stderr.write(`carillon: ${isOurs ? error.message : ((error as Error).stack ?? String(error))}\n`)
  return error instanceof WrongUse ? 2 : 1
}
