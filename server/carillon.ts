// The command line: runs a command and reports how it ended. Exit status 0: done, 1: failed, 2: wrong use; errors on stderr.
import { Command, CommanderError } from 'commander'
import { CarillonError } from './basics/errors.ts'
import { description, displayVersion } from './basics/version.ts'
import { WrongUse } from './commands/terminal/output.ts'

/** In the order of --help. Each is imported only if it runs, so that the service does not load the other commands. */
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  user: async () => (await import('./commands/user/user.ts')).userCommand(),
  key: async () => (await import('./commands/key.ts')).keyCommand(),
  keys: async () => (await import('./commands/keys.ts')).keysCommand(),
  secret: async () => (await import('./commands/secret.ts')).secretCommand(),
  audit: async () => (await import('./commands/audit.ts')).auditCommand(),
  explain: async () => (await import('./commands/explain.ts')).explainCommand(),
  retention: async () => (await import('./commands/retention.ts')).retentionCommand(),
  send: async () => (await import('./commands/send.ts')).sendCommand(),
  tail: async () => (await import('./commands/tail.ts')).tailCommand(),
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  backup: async () => (await import('./commands/backup.ts')).backupCommand(),
  restore: async () => (await import('./commands/restore.ts')).restoreCommand(),
  move: async () => (await import('./commands/move.ts')).moveCommand(),
  healthcheck: async () => (await import('./commands/healthcheck.ts')).healthcheckCommand(),
  'install-service': async () => (await import('./commands/install-service.ts')).installServiceCommand(),
}

const program = new Command('carillon')
  .description(description)
  .option('-V, --version', 'output the version and the commit')
  .helpCommand(false)
  .showHelpAfterError('Run it with --help to see its options.')
  .exitOverride()
for (const load of loadersFor(process.argv[2])) program.addCommand(await load())
program.on('option:version', () => {
  process.stdout.write(`${displayVersion()}\n`)
  throw new CommanderError(0, 'commander.version', '')
})
for (const command of [...program.commands, ...program.commands.flatMap(({ commands }) => commands)])
  command.copyInheritedSettings(program).exitOverride().helpCommand(false)

// A program that closes the pipe, as `head` does, is no failure. A command with a listener of its own handles the others.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && process.stdout.listenerCount('error') === 1) throw error
})
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** All of them for --help, and for an unknown name, for which commander suggests a similar one. */
function loadersFor(name = ''): (() => Promise<Command>)[] {
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined
  return load === undefined ? Object.values(loaders) : [load]
}

function report(error: unknown): number {
  // Commander has printed its own message, or the help (status 0).
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const isOurs = error instanceof CarillonError || error instanceof WrongUse
  process.stderr.write(`carillon: ${isOurs ? error.message : ((error as Error).stack ?? String(error))}\n`)
  return error instanceof WrongUse ? 2 : 1
}
