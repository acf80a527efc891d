// What does a database URL say? The one place that reads its text: the engine, a SQLite file's path, the PostgreSQL server,
// and how the database is displayed.
import { resolve } from 'node:path'
import { type Environment, invalid, isLoopback } from './values.ts'

/** `path` is as the operator wrote it, relative or absolute. `url` is passed on to pg, which reads all of it. */
export type Database =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string }

/** Throws INVALID_REQUEST if the text names no engine of Carillon, or no file. */
export function readDatabaseUrl(text: string): Database {
  if (/^postgres(ql)?:\/\//.test(text)) return { engine: 'postgres', url: text }
  if (!/^sqlite:\S/.test(text))
    return invalid('write sqlite:PATH or postgres://USER@HOST/DATABASE, such as sqlite:data/carillon.db')
  return { engine: 'sqlite', path: text.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '') }
}

/** For messages: the absolute path of a SQLite file; host and name of a PostgreSQL database, without user and password. */
export function displayDatabase(database: Database): string {
  if (database.engine === 'sqlite') return resolve(database.path)
  const parsed = URL.parse(database.url)
  return parsed === null ? 'the PostgreSQL database' : `postgres://${parsed.host}${parsed.pathname}`
}

export type PostgresServer = {
  /** A host name, an address, the folder of a Unix socket, or several of them separated by commas. */
  host: string
  /** `none` covers every mode that does not require TLS; `unverified` encrypts, but checks no certificate. */
  tls: 'none' | 'unverified' | 'verified'
}

/**
 * The server that pg would connect to (pg-connection-string, and connection-parameters.js in pg; a test compares them), also by PGHOST and
 * PGSSLMODE. Undefined if the database is not one of PostgreSQL, or if its URL cannot be parsed.
 */
export function postgresServer(database: Database, env: Environment): PostgresServer | undefined {
  if (database.engine !== 'postgres') return undefined
  const { url } = database
  const spaced = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i.test(url) ? encodeURI(url).replace(/%25(\d\d)/g, '%$1') : url
  const parsed = URL.parse(spaced) ?? URL.parse(spaced.replace('@/', '@no-host/'))
  if (parsed === null) return undefined
  // A parameter that is given twice has its last value, as in pg.
  const parameters = Object.fromEntries(parsed.searchParams)
  const named = URL.canParse(spaced) ? parsed.hostname.replace(/^\[(.+)\]$/, '$1') : ''
  const host = parameters.host || decoded(named) || env.PGHOST || 'localhost'
  return { host, tls: tlsOf(parameters, env.PGSSLMODE) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const modes: Readonly<Record<string, PostgresServer['tls']>> = {
  'no-verify': 'unverified',
  require: 'verified',
  'verify-ca': 'verified',
  'verify-full': 'verified',
}

/** Stricter than pg in one place: `allow` and `prefer` count as no TLS, because in libpq they fall back to plain text. */
function tlsOf(parameters: Readonly<Record<string, string>>, fromEnvironment = ''): PostgresServer['tls'] {
  const { ssl, sslmode, sslcert, sslkey, sslrootcert, sslnegotiation, uselibpqcompat } = parameters
  if (sslmode) {
    const isUnverified = uselibpqcompat === 'true' && sslmode === 'require' && !sslrootcert
    return isUnverified ? 'unverified' : (modes[sslmode] ?? 'none')
  }
  if (sslcert || sslkey || sslrootcert || ssl === 'true' || ssl === '1') return 'verified'
  if (ssl === 'no-verify') return 'unverified'
  if (ssl !== undefined) return 'none'
  return sslnegotiation === 'direct' ? 'verified' : (modes[fromEnvironment] ?? 'none')
}

/** Whether every host of the server is this machine: the traffic then crosses no network. */
export function isOnThisMachine({ host }: PostgresServer): boolean {
  return host.split(',').every((one) => one.startsWith('/') || (/^[\w.:%-]+$/.test(one) && isLoopback(one)))
}
