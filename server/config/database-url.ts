// What does a database URL say? The one place that knows how it names an engine and a file.
import { invalid } from './values.ts'

export function readDatabaseUrl(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\S/i.test(text) ? text : invalid('write scheme:rest, such as sqlite:data/carillon.db')
}

/** The path of a SQLite file, or undefined if the URL names another engine. */
export function sqlitePath(url: string): string | undefined {
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '') : undefined
}

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url)
}
