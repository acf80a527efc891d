// Exit status 0: done, 1: failed, 2: wrong use; errors on stderr.
import { Command, CommanderError } from 'commander'
import { CarillonError } from './basics/errors.ts'
import { description, displayVersion } from './basics/version.ts'
import { WrongUse } from './commands/terminal/output.ts'

/** --help lists them in this order. */
const loaders: Readonly<Record<string, () => Promise<{ makeCommand: () => Command }>>> = {
  serve: () => import('./commands/serve.ts'),
  user: () => import('./commands/user/user.ts'),
  key: () => import('./commands/key.ts'),
  keys: () => import('./commands/keys.ts'),
  secret: () => import('./commands/secret.ts'),
  audit: () => import('./commands/audit.ts'),
  explain: () => import('./commands/explain.ts'),
  retention: () => import('./commands/retention.ts'),
  reach: () => import('./commands/reach.ts'),
  stats: () => import('./commands/stats.ts'),
  outbox: () => import('./commands/outbox.ts'),
  mail: () => import('./commands/mail.ts'),
  webhook: () => import('./commands/webhook.ts'),
  send: () => import('./commands/send.ts'),
  withdraw: () => import('./commands/withdraw.ts'),
  tail: () => import('./commands/tail.ts'),
  migrate: () => import('./commands/migrate.ts'),
  doctor: () => import('./commands/doctor.ts'),
  backup: () => import('./commands/backup.ts'),
  restore: () => import('./commands/restore.ts'),
  move: () => import('./commands/move.ts'),
  maintenance: () => import('./commands/maintenance.ts'),
  upgrade: () => import('./commands/upgrade.ts'),
  healthcheck: () => import('./commands/healthcheck.ts'),
  'install-service': () => import('./commands/install-service.ts'),
}

const program = new Command('carillon')
  .description(description)
  .option('-V, --version', 'output the version and the commit')
  .helpCommand(false)
  .showHelpAfterError('Run it with --help to see its options.')
  .exitOverride()
for (const load of loadersFor(process.argv[2])) program.addCommand((await load()).makeCommand())
program.on('option:version', () => {
  process.stdout.write(`${displayVersion()}\n`)
  throw new CommanderError(0, 'commander.version', '')
})
for (const command of [
  ...program.commands,
  ...program.commands.flatMap(({ commands }) => commands),
])
  command.copyInheritedSettings(program).exitOverride().helpCommand(false)

// A program that closes the pipe, as `head` does, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && process.stdout.listenerCount('error') === 1) throw error
})
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** Commander suggests a similar name for an unknown one. */
function loadersFor(name = '') {
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined
  return load === undefined ? Object.values(loaders) : [load]
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const isOurs = error instanceof CarillonError || error instanceof WrongUse
  process.stderr.write(
    `carillon: ${isOurs ? error.message : ((error as Error).stack ?? String(error))}\n`,
  )
  return error instanceof WrongUse ? 2 : 1
}
