// For tests: a backup as earlier versions wrote it from SQLite, which is a copy of the database file with a table of what it
// should hold. This version only restores such a file.
import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { backup as copyOnline } from 'node:sqlite'
import { connect } from '../../sqlite/database.ts'
import { backupTable } from '../../transfer-state.ts'
import { type Digest, digestsOf } from '../digest.ts'
import { Endpoint } from '../endpoint/endpoint.ts'
import { openSqlite, SqliteDriver } from '../endpoint/sqlite.ts'

/** Copies the database at `path` to `file`. */
export async function writeEarlierBackup(path: string, file: string): Promise<void> {
  const endpoint = openSqlite(path)
  const source = connect(path)
  rmSync(file, { force: true })
  try {
    const digests = await digestsOf(endpoint.batchesAfter(null))
    await copyOnline(source, file)
    await makeEarlierBackup(file, digests)
  } finally {
    source.close()
    await endpoint.close()
  }
}

/** Turns the copy of a database into a backup: one file that accepts writes. */
export async function makeEarlierBackup(file: string, digests: readonly Digest[]): Promise<void> {
  const database = connect(file)
  try {
    await new Endpoint(new SqliteDriver(database, file)).allowWrites()
    database.exec(
      `pragma user_version = ${randomInt(1, 2 ** 31)};
      drop table if exists ${backupTable};
      create table ${backupTable} ("table" text not null, rows integer not null, sha256 text not null) strict`,
    )
    const insert = database.prepare(`insert into ${backupTable} values (?, ?, ?)`)
    for (const { table, rows, sha256 } of digests) insert.run(table, rows, sha256)
    database.exec('pragma journal_mode = delete')
  } finally {
    database.close()
  }
}
