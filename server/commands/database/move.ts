import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { newId } from '../../basics/ids.ts'
import { refuseMissingDatabase } from '../../start/database-file.ts'
import { type Database, displayDatabase } from '../../store/database.ts'
import { secretFileOf } from '../../tokens/sealing-secret.ts'
import { configOf } from '../settings.ts'
import { type Output, print, rowsIn, WrongUse } from '../terminal/output.ts'
import { interruptible, progress } from '../terminal/progress.ts'

type Options = Output & { to?: string; giveUp?: boolean }

const more = `
From the start of the move the old database refuses every write (503) and serves only reads. Everything is copied and
compared row by row. If it is interrupted, run the same command again, and it continues. After the move the old database
keeps refusing writes; to use it again, run move --give-up.

Options are visible in the process list, so a URL with a password is refused there. Set CARILLON_DATABASE_URL or
CARILLON_TARGET_URL to it, or CARILLON_DATABASE_URL_FILE or CARILLON_TARGET_URL_FILE to the name of a file with it.

Examples:
  npx carillon move --from sqlite:data/carillon.db --to 'postgres://carillon@db.internal/carillon?sslmode=verify-full'
  npx carillon move --give-up --from sqlite:data/carillon.db`

export function makeCommand(): Command {
  return new Command('move')
    .description('Move everything to an empty database of either engine')
    .option('--from <url>', 'the database to move (CARILLON_DATABASE_URL)')
    .option('--to <url>', 'the empty database to fill (CARILLON_TARGET_URL)')
    .option(
      '--give-up',
      'let the old database accept writes again, whether the move was completed or not',
    )
    .option('--json', 'one JSON value on stdout, for machines')
    .addHelpText('after', more)
    .action((options: Options, command: Command) =>
      (options.giveUp ? giveUp : move)(options, command),
    )
}

async function move(options: Options, command: Command): Promise<void> {
  const { giveUpCommand, moveDatabase, refusingSentence } = await import(
    '../../store/transfer/move.ts'
  )
  const config = configOf(command, { from: 'CARILLON_DATABASE_URL', to: 'CARILLON_TARGET_URL' })
  const { database: from, target: to, databasePartitions: partitions, secret } = config
  if (to === undefined)
    throw new WrongUse('Name the empty database: --to URL, or CARILLON_TARGET_URL')
  if (displayDatabase(from) === displayDatabase(to))
    throw new WrongUse('--from and --to name the same database')
  refuseMissingDatabase(from)
  let state = ''
  const onRefusing = () => {
    state = refusingSentence(from)
  }
  const wanted = {
    from,
    to,
    partitions,
    id: newId(Date.now()),
    now: Date.now,
    onRefusing,
    report: progress(options),
  }
  const stateNow = () => state
  const tables = await interruptible(stateNow, () => moveDatabase(wanted))
  const rows = rowsIn(tables)
  const beside =
    secret === undefined && from.engine === 'sqlite' ? secretFileOf(resolve(from.path)) : ''
  const secretFile = existsSync(beside) ? beside : undefined
  const value = { from: displayDatabase(from), to: displayDatabase(to), rows, tables, secretFile }
  print(options, value, () => [
    `Moved ${rows} rows of ${tables.length} tables to ${value.to}; counts and checksums agree`,
    `Set CARILLON_DATABASE_URL to the new database, and restart the service.${secretAdvice(secretFile, to)}`,
    `${value.from} refuses writes from now on. To use it again: ${giveUpCommand(from)}`,
  ])
}

async function giveUp(options: Options, command: Command): Promise<void> {
  if (options.to !== undefined) throw new WrongUse('--give-up takes only --from')
  const { giveUpMove } = await import('../../store/transfer/move.ts')
  const { database: from } = configOf(command, { from: 'CARILLON_DATABASE_URL' })
  refuseMissingDatabase(from)
  const { target, endedAt } = await giveUpMove(from)
  const whole = `${target} contains the moved data, but not later writes to the old database`
  const state =
    endedAt === null
      ? `The move was not done: do not use ${target}, and delete its contents`
      : whole
  const value = { from: displayDatabase(from), target, wasDone: endedAt !== null }
  print(options, value, () => [`${value.from} accepts writes again`, state])
}

function secretAdvice(file: string | undefined, to: Database): string {
  if (file === undefined) return ' CARILLON_SECRET does not change.'
  const place =
    to.engine === 'postgres'
      ? `set CARILLON_SECRET_FILE=${file}`
      : `copy ${file} to ${secretFileOf(resolve(to.path))}`
  return `\nIts signing keys are sealed with a secret: ${place}`
}
