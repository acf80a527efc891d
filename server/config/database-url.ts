// Only this file reads a database URL.
import type { Database } from '../store/database.ts'
import { type Environment, invalid, isLoopback } from './values.ts'

export function readDatabaseUrl(text: string): Database {
  if (/^postgres(ql)?:\/\//.test(text)) return { engine: 'postgres', url: text }
  if (!/^sqlite:\S/.test(text))
    return invalid(
      'write sqlite:PATH or postgres://USER@HOST/DATABASE, such as sqlite:data/carillon.db',
    )
  return { engine: 'sqlite', path: text.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '') }
}

export type PostgresServer = {
  /** The host may also be the folder of a Unix socket, or several hosts with commas. */
  host: string
  /** `none`: TLS is optional. */
  tls: 'none' | 'unverified' | 'verified'
}

/** A test compares this with pg, also for PGHOST and PGSSLMODE. */
export function postgresServer(database: Database, env: Environment): PostgresServer | undefined {
  if (database.engine !== 'postgres') return undefined
  const { url } = database
  const spaced = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i.test(url)
    ? encodeURI(url).replace(/%25(\d\d)/g, '%$1')
    : url
  const parsed = URL.parse(spaced) ?? URL.parse(spaced.replace('@/', '@no-host/'))
  if (parsed === null) return undefined
  // The last value counts, as in pg.
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

/** `allow` and `prefer` are no TLS: libpq falls back to plain text. */
function tlsOf(
  parameters: Readonly<Record<string, string>>,
  fromEnvironment = '',
): PostgresServer['tls'] {
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

export function isOnThisMachine({ host }: PostgresServer): boolean {
  return host
    .split(',')
    .every((one) => one.startsWith('/') || (/^[\w.:%-]+$/.test(one) && isLoopback(one)))
}
