// Builds the indexes of a migration while requests read and write, before its transaction locks anything. Repeatable: an index that an
// interrupted build left invalid is dropped and built again.
import type { ClientBase } from 'pg'

const concurrently = /^create (unique )?index concurrently (\w+) on ("?\w+"?)([^;]*);/gm

export async function buildIndexes(client: ClientBase, migration: string): Promise<void> {
  const rows = async (text: string, value: string) => (await client.query(text, [value])).rows
  for (const [, unique = '', index = '', table = '', definition] of migration.matchAll(concurrently)) {
    const partitions = await rows(
      'select inhrelid::regclass as name from pg_inherits where inhparent = $1::regclass',
      table,
    )
    // PostgreSQL builds no index of a partitioned table concurrently, but one for each partition.
    for (const part of partitions.length === 0 ? [table] : partitions.map(({ name }) => name)) {
      const name = part === table ? index : `${index}_on_${part}`
      const isInvalid = 'select from pg_index where indexrelid = to_regclass($1) and not indisvalid'
      if ((await rows(isInvalid, name)).length > 0) await client.query(`drop index concurrently ${name}`)
      await client.query(`create ${unique}index concurrently if not exists ${name} on ${part}${definition}`)
    }
  }
}

/** What the transaction runs. Its `create index` finds those of the partitions, and makes the index of the table from them. */
export function withIndexesBuilt(migration: string): string {
  return migration.replace(concurrently, 'create $1index if not exists $2 on $3$4;')
}
