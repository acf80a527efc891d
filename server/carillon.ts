// Exit status 0: done, 1: failed, 2: wrong use; errors on stderr.
import { Command, CommanderError } from 'commander'
import { CarillonError } from './basics/errors.ts'
import { description, displayVersion } from './basics/version.ts'
import { WrongUse } from './commands/terminal/output.ts'

/** --help lists them in this order. */
const loaders: Readonly<Record<string, () => Promise<{ makeCommand: () => Command }>>> = {
  serve: () => import('./commands/service/serve.ts'),
  user: () => import('./commands/user/user.ts'),
  key: () => import('./commands/keys/key.ts'),
  keys: () => import('./commands/keys/keys.ts'),
  secret: () => import('./commands/keys/secret.ts'),
  audit: () => import('./commands/service/audit.ts'),
  explain: () => import('./commands/notifications/explain.ts'),
  retention: () => import('./commands/notifications/retention.ts'),
  reach: () => import('./commands/notifications/reach.ts'),
  stats: () => import('./commands/service/stats.ts'),
  outbox: () => import('./commands/notifications/outbox.ts'),
  mail: () => import('./commands/notifications/mail.ts'),
  webhook: () => import('./commands/notifications/webhook.ts'),
  send: () => import('./commands/notifications/send.ts'),
  withdraw: () => import('./commands/notifications/withdraw.ts'),
  tail: () => import('./commands/notifications/tail.ts'),
  migrate: () => import('./commands/database/migrate.ts'),
  doctor: () => import('./commands/service/doctor.ts'),
  backup: () => import('./commands/database/backup.ts'),
  restore: () => import('./commands/database/restore.ts'),
  move: () => import('./commands/database/move.ts'),
  maintenance: () => import('./commands/database/maintenance.ts'),
  upgrade: () => import('./commands/database/upgrade.ts'),
  healthcheck: () => import('./commands/service/healthcheck.ts'),
  'install-service': () => import('./commands/service/install-service.ts'),
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
