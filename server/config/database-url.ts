// What does a database URL say? The one place that knows how it names an engine, a file, and a PostgreSQL server.
import { type Environment, invalid, isLoopback } from './values.ts'

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

export type PostgresServer = {
  /** A host name, an address, the folder of a Unix socket, or several of them separated by commas. */
  host: string
  /** `none` covers every mode that does not require TLS; `unverified` encrypts, but checks no certificate. */
  tls: 'none' | 'unverified' | 'verified'
}

/**
 * The server that pg would connect to (pg-connection-string, and connection-parameters.js in pg; a test compares them).
 * pg reads PGHOST and PGSSLMODE of the environment if the URL names no host or no mode.
 * Undefined if the URL is not one of PostgreSQL, or cannot be parsed.
 */
export function postgresServer(url: string, env: Environment): PostgresServer | undefined {
  if (!isPostgres(url)) return undefined
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

/** Stricter than pg in one place: `allow` and `prefer` count as no TLS, since in libpq they fall back to plain text. */
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

/** Whether a text that was written as a URL holds a password, also one that cannot be parsed. */
export function hasPassword(text: string): boolean {
  const url = URL.parse(text)
  if (url === null) return /:(?!\/\/).*@/s.test(text)
  // A colon that is percent-encoded is part of the user's name, but whoever wrote it meant a password.
  if (url.password !== '' || /%3a/i.test(url.username)) return true
  return [...url.searchParams.keys()].some((name) => /pass/i.test(name))
}

/** Whether every host of the server is this machine: the traffic then crosses no network. */
export function isOnThisMachine({ host }: PostgresServer): boolean {
  return host.split(',').every((one) => one.startsWith('/') || (/^[\w.:%-]+$/.test(one) && isLoopback(one)))
}
