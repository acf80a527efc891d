// The newest version that starts creates the functions (decision 0073). In a rolling upgrade two
// versions call them: a new signature gets a new name, and the old function stays for one version.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Pool } from 'pg'
import { version as ofProgram } from '../../../basics/version.ts'
import { comparable } from '../../migrations.ts'

/** Functions and migrations never run at the same time. */
export const lockMigrations = 'select pg_advisory_xact_lock(3853314791062309107)'
const label = /^carillon functions (\S+) ([0-9a-f]{16})$/

export type Functions = { version: string; hash: string; text: string }

export function knownFunctions(folder = new URL('../functions/', import.meta.url)): Functions {
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  const text = files
    .sort()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n')
  const hash = createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex').slice(0, 16)
  return { version: ofProgram, hash, text }
}

export function creationOf({ version, hash, text }: Functions): string {
  return `${text}\ncomment on table migration is 'carillon functions ${version} ${hash}';`
}

/** False also if a newer version created them. Only reads. */
export async function needsFunctions(
  database: Pick<Pool, 'query'>,
  { version, hash }: Functions,
): Promise<boolean> {
  const { rows } = await database.query(
    "select obj_description(to_regclass('migration'), 'pg_class') as label",
  )
  const [, found, foundHash] = label.exec(rows[0]?.label ?? '') ?? []
  // biome-ignore lint/plugin/secrets: the hash of a database function, whose text is public
  return found === undefined || (foundHash !== hash && comparable(found) <= comparable(version))
}

export async function bringFunctions(pool: Pool, functions: Functions): Promise<boolean> {
  if (!(await needsFunctions(pool, functions))) return false
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(lockMigrations)
    const isNeeded = await needsFunctions(client, functions)
    if (isNeeded) await client.query(creationOf(functions))
    await client.query('commit')
    client.release()
    return isNeeded
  } catch (error) {
    client.release(true)
    throw error
  }
}
