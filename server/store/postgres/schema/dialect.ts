// Writes the tables of schema/ for PostgreSQL. Collation "C" orders text as SQLite does, by bytes.
const types: Record<string, string> = {
  integer: 'bigint',
  text: 'text collate "C"',
  blob: 'text collate "C"',
}
/** With partitions by user_id, a hot statement touches one. */
const partitioned = ['session', 'inbox', 'inbox_category', 'notification', 'bulk', 'reminder']

const column = /^( {2}\w+|alter table .* add column \w+) (integer|text|blob)\b/gm
const table = /^(create table "?(\w+)"? \($.*?^\)) without rowid, strict;$/gms

export function onPostgres(migration: string, partitions: number): string {
  return migration
    .replace(column, (_, start: string, type: string) => `${start} ${types[type]}`)
    .replace(table, (_, create: string, name: string) =>
      partitioned.includes(name)
        ? [`${create} partition by hash (user_id);`, ...partitionsOf(name, partitions)].join('\n')
        : `${create};`,
    )
}

function partitionsOf(name: string, count: number): string[] {
  const values = (remainder: number) => `for values with (modulus ${count}, remainder ${remainder})`
  return Array.from(
    { length: count },
    (_, n) => `create table ${name}_${n} partition of ${name} ${values(n)};`,
  )
}
