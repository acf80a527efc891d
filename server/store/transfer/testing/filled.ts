// Databases that have rows in every table, and empty ones of either engine.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { newDatabase } from '../../../../tests/support/postgres.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { openStore } from '../../../open-store.ts'
import { connect, type Database } from '../../sqlite/database.ts'
import { newFolder } from '../../sqlite/testing/folder.ts'
import { openEndpoint, sourceAt } from '../endpoint/endpoint.ts'
import { type Checksum, checksumsOf, type Endpoint, tableNames } from '../rows.ts'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

/** Nothing is displayed. */
export const report = () => () => {}

/** Two engines might store or sort them differently. */
const words = [
  'a',
  'Z',
  'é',
  'ß',
  'ﬀ',
  '～',
  '😀',
  'a\u2028b',
  "o'clock",
  'back\\slash',
  '{a,"b"}',
  'null',
  ' ',
  '%s $1',
]

export async function emptyPlace(t: TestContext, engine: Engine): Promise<string> {
  if (engine === 'sqlite') return `sqlite:${join(await newFolder(t), 'carillon.db')}`
  const { url, drop } = await newDatabase({ isBare: true })
  t.after(drop)
  return url
}

export function sqliteFile(url: string): string {
  return url.replace(/^sqlite:/, '')
}

/** With so many notifications beside those that every place has. */
export async function filledPlace(t: TestContext, { notifications = 0 } = {}): Promise<string> {
  const path = join(await newFolder(t), 'carillon.db')
  const original = originals.get(notifications) ?? makeOriginal(notifications)
  originals.set(notifications, original)
  await writeFile(path, await original, { mode: 0o600 })
  return `sqlite:${path}`
}

/** By the number of notifications; made once for a test file. */
const originals = new Map<number, Promise<Buffer>>()

async function makeOriginal(notifications: number): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-'))
  const path = join(folder, 'carillon.db')
  const { store } = await openStore({ engine: 'sqlite', path })
  // The last connection to close copies the log into the file.
  await store.close()
  const database = connect(path)
  database.exec('pragma synchronous = off; begin')
  for (const name of tableNames) fillWithWords(database, name)
  database.exec(`
    insert into notification (user_id, seq, id, version, title, category, created_at)
      with recursive numbers (n) as (values (1) union all select n + 1 from numbers)
      select unhex(printf('%032x', n % 14)), 1000 + n, 'id' || n, n, 'no. ' || n, 'c' || n % 3, '2026-01-01T00:00:00.000Z'
      from numbers limit ${notifications};
    commit`)
  database.close()
  const content = await readFile(path)
  await rm(folder, { recursive: true })
  return content
}

/** A transfer does not know what a row means. */
function fillWithWords(database: Database, table: string): void {
  const columns = database.prepare('select name, type from pragma_table_info(?)').all(table)
  const places = columns.map(() => '?').join(', ')
  const insert = database.prepare(`insert into "${table}" values (${places})`)
  for (const [n, word] of words.entries()) {
    const byType: Record<string, string | Buffer> = { TEXT: word, BLOB: Buffer.alloc(16, n) }
    // The table checks it, and all have an end of a snooze.
    const cellOf = ({ name, type }: { name?: unknown; type?: unknown }) =>
      name === 'state' ? 'snoozed' : (byType[String(type)] ?? n)
    insert.run(...columns.map(cellOf))
  }
}

export async function onEndpoint<Result>(
  url: string,
  work: (endpoint: Endpoint) => Promise<Result>,
): Promise<Result> {
  await using endpoint = await openEndpoint(readDatabaseUrl(url))
  return await work(endpoint)
}

export function checksumsAt(url: string): Promise<Checksum[]> {
  return onEndpoint(url, async (endpoint) => checksumsOf(await sourceAt(endpoint)))
}

export async function emptyTables(t: TestContext, engine: Engine): Promise<string> {
  const url = await emptyPlace(t, engine)
  await (await openStore(readDatabaseUrl(url))).store.close()
  return url
}

export function rowsAt(url: string): Promise<number> {
  return onEndpoint(url, async (endpoint) => (await sourceAt(endpoint)).total)
}
