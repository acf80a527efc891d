// For tests: a move, what it leaves in a database, and whether a database accepts writes.
import assert from 'node:assert/strict'
import { queryAt } from '../../../../tests/support/postgres.ts'
import { CarillonError } from '../../../basics/errors.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { openStore, usualPartitions } from '../../../open-store.ts'
import { revokeTokens } from '../../../tokens/tokens.store.ts'
import { connect } from '../../sqlite/database.ts'
import { fillingTable } from '../../transfer-state.ts'
import { beginFilling, stateOf } from '../endpoint/endpoint.ts'
import { moveDatabase } from '../move.ts'
import type { Endpoint } from '../rows.ts'
import { onEndpoint, report, sqliteFile } from './filled.ts'

let moves = 0

export function move(from: string, to: string, options: Partial<Parameters<typeof moveDatabase>[0]> = {}) {
  const [source, target] = [readDatabaseUrl(from), readDatabaseUrl(to)]
  const id = `m${++moves}`
  return moveDatabase({ from: source, to: target, partitions: usualPartitions, id, now: () => 0, report, ...options })
}

/** As an interrupted move with the id leaves a database that has all rows. */
export function markAsFilling(url: string, id: string): Promise<void> {
  return onEndpoint(url, (endpoint) => beginFilling(endpoint, id))
}

export function fillingAt(url: string): Promise<string | null> {
  return onEndpoint(url, (endpoint) => stateOf(endpoint, fillingTable))
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

/** Whether a transfer that fills the database has committed its first notifications. */
export async function hasNotifications(endpoint: Endpoint): Promise<boolean> {
  if ((await stateOf(endpoint, fillingTable)) === null) return false
  return (await endpoint.query('select 1 from notification limit 1')).length > 0
}
