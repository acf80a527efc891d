// Which settings let the network between two machines read passwords, cookies or the database? Each needs an explicit
// setting (rows L3, L4).
import { type Database, isOnThisMachine, postgresServer } from './database-url.ts'
import type { Config } from './settings.ts'
import { type Environment, isLoopback, type SettingFault } from './values.ts'

/** A setting that could not be read is absent here, and what depends on it is not reported. */
export function exposures(config: Partial<Config>, env: Environment): SettingFault[] {
  return [...exposedHttp(config), ...exposedOrigins(config), ...exposedDatabases(config, env)]
}

const readable = 'passwords can be read on the way'
const remedy = 'set CARILLON_PUBLIC_URL=https://... behind a TLS proxy, or CARILLON_INSECURE_HTTP=on'

/** A public URL beyond this machine decides; else the address that the service listens on. */
function exposedHttp({ host, publicUrl, insecureHttp }: Partial<Config>): SettingFault[] {
  if (insecureHttp !== false) return []
  const { protocol, hostname } = publicUrl === undefined ? {} : new URL(publicUrl)
  const isPublicUrlHere = hostname !== undefined && isLoopback(hostname)
  if (publicUrl !== undefined && !isPublicUrlHere) {
    if (protocol === 'https:') return []
    return [
      {
        field: 'CARILLON_PUBLIC_URL',
        reason: `is ${JSON.stringify(publicUrl)}: plain HTTP, where ${readable}`,
        remedy,
      },
    ]
  }
  if (host === undefined || isLoopback(host)) return []
  const found = `is ${JSON.stringify(host)}: plain HTTP beyond this machine`
  if (!isPublicUrlHere) return [{ field: 'CARILLON_HOST', reason: `${found}, where ${readable}`, remedy }]
  // Only browsers on this machine can use such a public URL, so nothing needs the other interfaces.
  const contradiction = `${found}, but CARILLON_PUBLIC_URL is ${JSON.stringify(publicUrl)}, which names this machine alone`
  const change =
    'set CARILLON_HOST=127.0.0.1, or CARILLON_PUBLIC_URL=https://... behind a TLS proxy, or CARILLON_INSECURE_HTTP=on'
  return [{ field: 'CARILLON_HOST', reason: contradiction, remedy: change }]
}

/** Whoever controls the network can put a script into a page of plain HTTP, and it acts for the user. */
function exposedOrigins({ publicUrl, allowedOrigins = [] }: Partial<Config>): SettingFault[] {
  if (!publicUrl?.startsWith('https:')) return []
  const plain = allowedOrigins.filter((origin) => origin.startsWith('http:') && !isLoopback(new URL(origin).hostname))
  return plain.map((origin) => ({
    field: 'CARILLON_ALLOWED_ORIGINS',
    reason: `has ${JSON.stringify(origin)} beside a public URL of https: the network can put a script into its pages`,
    remedy: `serve that page by https and write ${origin.replace('http:', 'https:')}, or leave it out`,
  }))
}

/** Anyone on the way reads the password hashes and every notification, and can change both. */
function exposedDatabases(config: Partial<Config>, env: Environment): SettingFault[] {
  const { database, target, insecureDatabase } = config
  if (insecureDatabase !== false) return []
  const databases = { CARILLON_DATABASE_URL: database, CARILLON_TARGET_URL: target }
  return Object.entries(databases)
    .filter(([, named]) => named !== undefined && isExposedDatabase(named, env))
    .map(([field]) => ({
      field,
      reason:
        'names a PostgreSQL server on another machine and does not require TLS: what it holds can be read on the way',
      remedy: 'add sslmode=verify-full to the URL, or set CARILLON_INSECURE_DATABASE=on',
    }))
}

/** What doctor says of the connection to the database; undefined if there is nothing to say. */
export function databaseTls(
  { database, insecureDatabase }: Config,
  env: Environment,
): 'refused' | 'none' | 'unverified' | undefined {
  const server = postgresServer(database, env)
  if (server === undefined || isOnThisMachine(server) || server.tls === 'verified') return undefined
  if (server.tls === 'unverified') return 'unverified'
  return insecureDatabase ? 'none' : 'refused'
}

function isExposedDatabase(database: Database, env: Environment): boolean {
  const server = postgresServer(database, env)
  return server !== undefined && server.tls === 'none' && !isOnThisMachine(server)
}
