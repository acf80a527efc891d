import { resolve } from 'node:path'

export type Database =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string }

/** Messages have neither user nor password. */
export function displayDatabase(database: Database): string {
  if (database.engine === 'sqlite') return resolve(database.path)
  const parsed = URL.parse(database.url)
  return parsed === null ? 'the PostgreSQL database' : `postgres://${parsed.host}${parsed.pathname}`
}
