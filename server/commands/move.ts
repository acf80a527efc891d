// `carillon move`: moves everything to another database, of either engine, while the service goes on reading.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { type Database, displayDatabase } from '../config/database-url.ts'
import { newId } from '../ids.ts'
import { refuseMissingDatabase } from '../start/database-file.ts'
import { secretFileOf } from '../start/sealing-secret.ts'
import { configWith, type GivenOption } from './settings.ts'
import { interruptible } from './terminal/interruption.ts'
import { type Output, print, WrongUse } from './terminal/output.ts'
import { withProgress } from './terminal/progress.ts'

type Options = Output & { from?: string; to?: string; giveUp?: boolean }

const more = `
From the first moment on the old database refuses every write (503), and goes on being read. Everything is copied and
compared row by row. A move that was ended in the middle goes on where it was: run the same command again. The old
database refuses writes for good when it is done; to take it back, move --give-up.

A password in an option can be seen in the process list, and is refused. Give such a URL by the environment,
CARILLON_DATABASE_URL and CARILLON_TARGET_URL, or by a file that CARILLON_DATABASE_URL_FILE and CARILLON_TARGET_URL_FILE name.

Examples:
  npx carillon move --from sqlite:data/carillon.db --to 'postgres://carillon@db.internal/carillon?sslmode=verify-full'
  CARILLON_TARGET_URL_FILE=/run/secrets/new-database npx carillon move
  npx carillon move --give-up --from sqlite:data/carillon.db`

export function moveCommand(): Command {
  return new Command('move')
    .description('Move everything to an empty database of either engine')
    .option('--from <url>', 'the database that is moved (CARILLON_DATABASE_URL)')
    .option('--to <url>', 'the empty database that is filled (CARILLON_TARGET_URL)')
    .option('--give-up', 'let the old database take writes again, whether the move was done or not')
    .option('--json', 'one JSON value on stdout, for machines')
    .addHelpText('after', more)
    .action(async (options: Options) => {
      // Loaded here, since every start of the service reads this file.
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
  let standing = ''
  const onRefusing = () => {
    standing = refusingSentence(from)
  }
  const tables = await interruptible(
    () => standing,
    () =>
      withProgress(options, (report) =>
        moveDatabase({ from, to, partitions, id: newId(Date.now()), now: Date.now, report, onRefusing }),
      ),
  )
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const secretFile = secret === undefined ? secretFileThatIs(from) : undefined
  print(
    options,
    { from: displayDatabase(from), to: displayDatabase(to), rows, tables, ...(secretFile && { secretFile }) },
    () => [
      `Moved ${rows} rows of ${tables.length} tables to ${displayDatabase(to)}; counts and checksums agree`,
      `Set CARILLON_DATABASE_URL to it, and start the service anew.${secretAdvice(secretFile, to)}`,
      `${displayDatabase(from)} refuses writes from now on. To take it back: ${giveUpCommand(from)}`,
    ],
  )
}

async function giveUp(options: Options, { giveUpMove }: Transfer): Promise<void> {
  if (options.to !== undefined) throw new WrongUse('--give-up takes --from alone')
  const { database: from } = configWith([fromOption(options)])
  refuseMissingDatabase(from)
  const { target, endedAt } = await giveUpMove(from)
  print(options, { from: displayDatabase(from), target, wasDone: endedAt !== null }, () => [
    `${displayDatabase(from)} takes writes again`,
    endedAt === null
      ? `${target} is half filled and of no use: remove what is in it`
      : `${target} holds what was moved to it; what is written from now on will not be there`,
  ])
}

function fromOption({ from }: Options): GivenOption {
  return { option: 'from', name: 'CARILLON_DATABASE_URL', value: from }
}

/** The secret that is kept beside the database: its signing keys were sealed with that. */
function secretFileThatIs(from: Database): string | undefined {
  if (from.engine !== 'sqlite') return undefined
  const file = secretFileOf(resolve(from.path))
  return existsSync(file) ? file : undefined
}

function secretAdvice(file: string | undefined, to: Database): string {
  if (file === undefined) return ' CARILLON_SECRET stays what it is.'
  const place =
    to.engine === 'postgres' ? `set CARILLON_SECRET_FILE=${file}` : `copy ${file} to ${secretFileOf(resolve(to.path))}`
  return `\nIts signing keys are sealed with a secret: ${place}`
}
