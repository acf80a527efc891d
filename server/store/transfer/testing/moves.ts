import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { queryAt } from '../../../../tests/support/postgres.ts'
import { CarillonError } from '../../../basics/errors.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { openStore, usualPartitions } from '../../../open-store.ts'
import { revokeTokens } from '../../../tokens/tokens.store.ts'
import { connect } from '../../sqlite/database.ts'
import { moveDatabase } from '../move.ts'
import { carillon, type Ended } from './command.ts'
import { report, rowsAt, sqliteFile } from './filled.ts'
import { interrupted } from './interrupted.ts'

let moves = 0

export function move(
  from: string,
  to: string,
  options: Partial<Parameters<typeof moveDatabase>[0]> = {},
) {
  const source = readDatabaseUrl(from)
  const target = readDatabaseUrl(to)
  const id = `m${++moves}`
  return moveDatabase({
    from: source,
    to: target,
    partitions: usualPartitions,
    id,
    now: () => 0,
    report,
    ...options,
  })
}

export function refusal(message: RegExp) {
  return (error: unknown) => error instanceof CarillonError && message.test(error.message)
}

export async function acceptsWrites(url: string): Promise<boolean> {
  const { store } = await openStore(readDatabaseUrl(url))
  try {
    await store.write(revokeTokens, { userId: 'nobody', signInId: 's', at: 1, expiresAt: 2 })
    return true
  } catch (error) {
    assert.ok(
      refusal(/^This database is being moved, and can only be read\. /)(error),
      String(error),
    )
    return false
  } finally {
    await store.close()
  }
}

export async function run(url: string, sql: string): Promise<void> {
  if (url.startsWith('postgres:')) return void (await queryAt(url, sql))
  const database = connect(sqliteFile(url))
  try {
    database.exec(sql)
  } finally {
    database.close()
  }
}

/** Reads past the service, which refuses an incomplete database. */
export async function notificationsAt(url: string): Promise<number> {
  const counting = 'select cast(count(*) as integer) as count from notification'
  if (url.startsWith('postgres:')) return (await queryAt(url, counting)).rows[0].count
  const database = connect(sqliteFile(url))
  try {
    return Number(database.prepare(counting).get()?.count)
  } finally {
    database.close()
  }
}

/** After a random number of notifications. Undefined if the command was done before. */
export async function killedWhileFilling(
  args: readonly string[],
  to: string,
): Promise<number | undefined> {
  const enough = randomInt(1, 4_000)
  const isDue = async () => (await notificationsAt(to)) >= enough
  return (await interrupted({ args, signal: 'SIGKILL', isDue })) && rowsAt(to)
}

/** It continued behind the rows that were there, and says so. */
export function assertContinued(
  call: Ended,
  { rows, total }: { rows: number; total: number },
): void {
  assert.equal(call.status, 0, call.stderr)
  const [, all, there] =
    /^Copying (\d+) rows, after the (\d+) that are there$/m.exec(call.stderr) ?? []
  assert.equal(Number(all), total, call.stderr)
  // The server of PostgreSQL may have committed a batch after its client was killed.
  assert.ok(Number(there) >= rows && Number(there) <= rows + 1_000, `${there} of ${rows}`)
}

/** Each program says with which command the database is filled. */
export async function isRefusedAsIncomplete(url: string, call: string): Promise<void> {
  const expected =
    `^carillon: (The database|\\S+) has only a part of its rows: a restore or a move into it is not done\\. ` +
    `Run the same command again, and it continues: ${RegExp.escape(call)}$`
  for (const args of [['serve'], ['user', 'list'], ['backup', '/nowhere/backup'], ['move']]) {
    const env = {
      CARILLON_DATABASE_URL: url,
      CARILLON_TARGET_URL: `sqlite:${sqliteFile(url)}-2`,
      CARILLON_LOG: 'silent',
    }
    const { status, stdout, stderr } = await carillon(args, env)
    assert.deepEqual([status, stdout], [1, ''], `${args} ${stdout} ${stderr}`)
    assert.match(stderr.trim(), new RegExp(expected), args.join(' '))
  }
  const { status, stdout } = await carillon(['doctor'], { CARILLON_DATABASE_URL: url })
  assert.equal(status, 1)
  assert.ok(stdout.includes(call), stdout)
}
