// For tests: a move, what it leaves in a database, and whether a database accepts writes.
import assert from 'node:assert/strict'
import { queryAt } from '../../../../tests/support/postgres.ts'
import { CarillonError } from '../../../basics/errors.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { openStore, usualPartitions } from '../../../open-store.ts'
import { revokeTokens } from '../../../tokens/tokens.store.ts'
import { connect } from '../../sqlite/database.ts'
import { moveDatabase } from '../move.ts'
import { report, sqliteFile } from './filled.ts'

let moves = 0

export function move(from: string, to: string, options: Partial<Parameters<typeof moveDatabase>[0]> = {}) {
  const [source, target] = [readDatabaseUrl(from), readDatabaseUrl(to)]
  const id = `m${++moves}`
  return moveDatabase({ from: source, to: target, partitions: usualPartitions, id, now: () => 0, report, ...options })
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
    assert.ok(refusal(/^This database is being moved, and can only be read\. /)(error), String(error))
    return false
  } finally {
    await store.close()
  }
}

/** Runs SQL in the database, past the service. */
export async function run(url: string, sql: string): Promise<void> {
  if (url.startsWith('postgres:')) return void (await queryAt(url, sql))
  const database = connect(sqliteFile(url))
  try {
    database.exec(sql)
  } finally {
    database.close()
  }
}

/** Whether another process is writing to the database, in a transaction. */
export async function isFilling(url: string): Promise<boolean> {
  const filling =
    "select from pg_stat_activity where datname = current_database() and query like 'insert into %unnest%'"
  if (url.startsWith('postgres:')) return (await queryAt(url, filling)).rows.length > 0
  try {
    await run(url, 'pragma busy_timeout = 0; begin immediate; rollback')
    return false
  } catch {
    return true
  }
}
