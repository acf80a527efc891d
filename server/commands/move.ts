// `carillon move`: moves everything to another database, of either engine, while the service still serves reads.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { newId } from '../basics/ids.ts'
import { type Database, displayDatabase } from '../config/database-url.ts'
import { refuseMissingDatabase } from '../start/database-file.ts'
import { secretFileOf } from '../start/sealing-secret.ts'
import { configWith, type GivenOption } from './settings.ts'
import { interruptible } from './terminal/interruption.ts'
import { type Output, print, WrongUse } from './terminal/output.ts'
import { withProgress } from './terminal/progress.ts'

type Options = Output & { from?: string; to?: string; giveUp?: boolean }

const more = `
From the start of the move the old database refuses every write (503) and serves only reads. Everything is copied and
compared row by row. If it is interrupted, run the same command again. After the move the old database
keeps refusing writes; to use it again, run move --give-up.

A password in an option is visible in the process list, and is refused. Set CARILLON_DATABASE_URL and CARILLON_TARGET_URL
to such URLs, or CARILLON_DATABASE_URL_FILE and CARILLON_TARGET_URL_FILE to the names of files with them.

Examples:
  npx carillon move --from sqlite:data/carillon.db --to 'postgres://carillon@db.internal/carillon?sslmode=verify-full'
  CARILLON_TARGET_URL_FILE=/run/secrets/new-database npx carillon move
  npx carillon move --give-up --from sqlite:data/carillon.db`

export function moveCommand(): Command {
  return new Command('move')
    .description('Move everything to an empty database of either engine')
    .option('--from <url>', 'the database to move (CARILLON_DATABASE_URL)')
    .option('--to <url>', 'the empty database to fill (CARILLON_TARGET_URL)')
    .option('--give-up', 'let the old database accept writes again, whether the move was completed or not')
    .option('--json', 'one JSON value on stdout, for machines')
    .addHelpText('after', more)
    .action(async (options: Options) => {
      // Imported here, so that `carillon --help` does not load it.
      const transfer = await import('../store/transfer/move.ts')
      await (options.giveUp ? giveUp : move)(options, transfer)
    })
}

type Transfer = typeof import('../store/transfer/move.ts')

async function move(options: Options, transfer: Transfer): Promise<void> {
  const { giveUpCommand, moveDatabase, refusingSentence } = transfer
  const config = configWith([fromOption(options), { option: 'to', name: 'CARILLON_TARGET_URL', value: options.to }])
  const { database: from, target: to, databasePartitions: partitions, secret } = config
  if (to === undefined) throw new WrongUse('Name the empty database: --to URL, or CARILLON_TARGET_URL')
  if (displayDatabase(from) === displayDatabase(to)) throw new WrongUse('--from and --to name the same database')
  refuseMissingDatabase(from)
  let state = ''
  const onRefusing = () => {
    state = refusingSentence(from)
  }
  const moved = { from, to, partitions, id: newId(Date.now()), now: Date.now, onRefusing }
  const tables = await interruptible(
    () => state,
    () => withProgress(options, (report) => moveDatabase({ ...moved, report })),
  )
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const beside = secret === undefined && from.engine === 'sqlite' ? secretFileOf(resolve(from.path)) : ''
  const secretFile = existsSync(beside) ? beside : undefined
  print(
    options,
    { from: displayDatabase(from), to: displayDatabase(to), rows, tables, ...(secretFile && { secretFile }) },
    () => [
      `Moved ${rows} rows of ${tables.length} tables to ${displayDatabase(to)}; counts and checksums agree`,
      `Set CARILLON_DATABASE_URL to the new database, and restart the service.${secretAdvice(secretFile, to)}`,
      `${displayDatabase(from)} refuses writes from now on. To use it again: ${giveUpCommand(from)}`,
    ],
  )
}

async function giveUp(options: Options, { giveUpMove }: Transfer): Promise<void> {
  if (options.to !== undefined) throw new WrongUse('--give-up takes only --from')
  const { database: from } = configWith([fromOption(options)])
  refuseMissingDatabase(from)
  const { target, endedAt } = await giveUpMove(from)
  print(options, { from: displayDatabase(from), target, wasDone: endedAt !== null }, () => [
    `${displayDatabase(from)} accepts writes again`,
    endedAt === null
      ? `${target} is incomplete and cannot be used: delete its contents`
      : `${target} contains the moved data, but not later writes to the old database`,
  ])
}

function fromOption({ from }: Options): GivenOption {
  return { option: 'from', name: 'CARILLON_DATABASE_URL', value: from }
}

function secretAdvice(file: string | undefined, to: Database): string {
  if (file === undefined) return ' CARILLON_SECRET does not change.'
  const place =
    to.engine === 'postgres' ? `set CARILLON_SECRET_FILE=${file}` : `copy ${file} to ${secretFileOf(resolve(to.path))}`
  return `\nIts signing keys are sealed with a secret: ${place}`
}
