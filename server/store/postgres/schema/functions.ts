// The functions of the database: functions/ holds the current text of each, and the newest version that starts creates them (decision 0073).
// In a rolling upgrade two versions call them: if a signature or meaning changes, the name does, and the old one stays for one more version.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Pool } from 'pg'
import { version as ofProgram } from '../../../basics/version.ts'
import { comparable } from '../../migrations.ts'

/** Functions and migrations never run at the same time. */
export const lockMigrations = 'select pg_advisory_xact_lock(3853314791062309107)'
const label = /^carillon functions (\S+) ([0-9a-f]{16})$/

/** `version` is that of the program. */
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

/** The SQL that creates them and records their version and hash, for one transaction. It locks no table that requests use. */
export function creationOf({ version, hash, text }: Functions): string {
  return `${text}\ncomment on table kysely_migration is 'carillon functions ${version} ${hash}';`
}

/** Whether it has none, or other texts that no newer version created. Of two prereleases, the last that starts creates them. Only reads. */
export async function needsFunctions(database: Pick<Pool, 'query'>, { version, hash }: Functions): Promise<boolean> {
  const { rows } = await database.query("select obj_description(to_regclass('kysely_migration'), 'pg_class') as label")
  const [, found, foundHash] = label.exec(rows[0]?.label ?? '') ?? []
  // biome-ignore lint/plugin/secrets: the hash of a database function, whose text is public
  return found === undefined || (foundHash !== hash && comparable(found) <= comparable(version))
}

/** Creates the functions if the database needs them. If several processes start at the same time, one of them does. */
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
    // Closes the connection, which ends the transaction.
    client.release(true)
    throw error
  }
}
