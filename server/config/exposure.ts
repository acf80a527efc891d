// Refuses settings that expose passwords, cookies or the database without a confirmation (L3, L4).

import type { Database } from '../store/database.ts'
import { isOnThisMachine, postgresServer } from './database-url.ts'
import type { Config } from './settings.ts'
import { type Environment, formatDuration, isLoopback, type SettingFault } from './values.ts'

/** `unread`: settings that have a fault. */
export function exposures(
  config: Partial<Config>,
  env: Environment,
  unread: readonly (keyof Config)[] = [],
): SettingFault[] {
  return [
    ...exposedHttp(config),
    ...exposedOrigins(config),
    ...exposedDatabases(config, env),
    ...(unread.includes('metricsToken') ? [] : exposedMetrics(config)),
    ...(unread.includes('backupAtMs') ? [] : halfSchedules(config)),
    ...conflicts(config),
  ]
}

const readable = 'others on the network can read passwords'
const remedies = 'CARILLON_PUBLIC_URL=https://... behind a TLS proxy, or CARILLON_INSECURE_HTTP=on'

function exposedHttp({ host, publicUrl, insecureHttp }: Partial<Config>): SettingFault[] {
  if (insecureHttp !== false) return []
  const { protocol, hostname } = publicUrl === undefined ? {} : new URL(publicUrl)
  const isPublicUrlHere = hostname !== undefined && isLoopback(hostname)
  if (publicUrl !== undefined && !isPublicUrlHere) {
    if (protocol === 'https:') return []
    const reason = `is ${JSON.stringify(publicUrl)}: plain HTTP, where ${readable}`
    return [{ field: 'CARILLON_PUBLIC_URL', reason, remedy: `set ${remedies}` }]
  }
  if (host === undefined || isLoopback(host)) return []
  const found = `is ${JSON.stringify(host)}: plain HTTP beyond this machine`
  const field = 'CARILLON_HOST'
  if (!isPublicUrlHere)
    return [{ field, reason: `${found}, where ${readable}`, remedy: `set ${remedies}` }]
  const reason = `${found}, but CARILLON_PUBLIC_URL is ${JSON.stringify(publicUrl)}, which names this machine only`
  return [{ field, reason, remedy: `set CARILLON_HOST=127.0.0.1, or ${remedies}` }]
}

/** A script in a plain-HTTP page acts for the user. */
function exposedOrigins({ publicUrl, allowedOrigins = [] }: Partial<Config>): SettingFault[] {
  if (!publicUrl?.startsWith('https:')) return []
  const plain = allowedOrigins.filter(
    (origin) => origin.startsWith('http:') && !isLoopback(new URL(origin).hostname),
  )
  return plain.map((origin) => ({
    field: 'CARILLON_ALLOWED_ORIGINS',
    reason: `has ${JSON.stringify(origin)} although the public URL is https: an attacker on the network can put a script into its pages`,
    remedy: `serve those pages by https and write ${origin.replace('http:', 'https:')}, or leave it out`,
  }))
}

function exposedDatabases(config: Partial<Config>, env: Environment): SettingFault[] {
  const { database, target, insecureDatabase } = config
  if (insecureDatabase !== false) return []
  const isRefused = (named?: Database) =>
    named && databaseTls({ database: named, insecureDatabase }, env) === 'refused'
  const place = 'a PostgreSQL server on another machine'
  const reason = `names ${place} and does not require TLS: others on the network can read its data`
  const change = 'add sslmode=verify-full to the URL, or set CARILLON_INSECURE_DATABASE=on'
  return Object.entries({ CARILLON_DATABASE_URL: database, CARILLON_TARGET_URL: target })
    .filter(([, named]) => isRefused(named))
    .map(([field]) => ({ field, reason, remedy: change }))
}

/** The numbers say how many users there are. */
function exposedMetrics({
  metricsPort,
  metricsHost,
  metricsToken,
}: Partial<Config>): SettingFault[] {
  if (metricsPort === undefined || metricsHost === undefined || isLoopback(metricsHost)) return []
  if (metricsToken !== undefined) return []
  const reason = `is ${JSON.stringify(metricsHost)}: others on the network can read the metrics`
  const remedy = 'set CARILLON_METRICS_TOKEN_FILE, or CARILLON_METRICS_HOST=127.0.0.1'
  return [{ field: 'CARILLON_METRICS_HOST', reason, remedy }]
}

function halfSchedules({ backupAtMs, backupDir }: Partial<Config>): SettingFault[] {
  if ((backupAtMs === undefined) === (backupDir === undefined)) return []
  const names = ['CARILLON_BACKUP_AT', 'CARILLON_BACKUP_DIR']
  const [field = '', other] = backupAtMs === undefined ? names.reverse() : names
  return [{ field, reason: `is set without ${other}`, remedy: 'set both, or none' }]
}

export function databaseTls(
  config: Pick<Config, 'database' | 'insecureDatabase'>,
  env: Environment,
) {
  const server = postgresServer(config.database, env)
  if (server === undefined || isOnThisMachine(server) || server.tls === 'verified') return undefined
  if (server.tls === 'unverified') return 'unverified'
  return config.insecureDatabase ? 'none' : 'refused'
}

function conflicts(config: Partial<Config>): SettingFault[] {
  const { host, port, publicUrl = `http://${host}:${port}`, issuers = [] } = config
  const { sessionIdleMs: idle = 0, sessionLifetimeMs: lifetime = Number.POSITIVE_INFINITY } = config
  const { tokenChainMs: chain = Number.POSITIVE_INFINITY, tokenLifetimeMs: token = 0 } = config
  const faults: SettingFault[] = []
  const report = (field: string, reason: string, change: string) =>
    faults.push({ field, reason, remedy: change })
  if (idle > lifetime) {
    const reason = `is ${formatDuration(idle)}, longer than CARILLON_SESSION_LIFETIME (${formatDuration(lifetime)})`
    report('CARILLON_SESSION_IDLE', reason, 'make it at most that long')
  }
  if (chain < token) {
    const reason = `is ${formatDuration(chain)}, shorter than CARILLON_TOKEN_LIFETIME (${formatDuration(token)})`
    report('CARILLON_TOKEN_CHAIN', reason, 'make it at least that long')
  }
  if (issuers.some(({ issuer }) => issuer === publicUrl)) {
    const reason = `has ${JSON.stringify(publicUrl)}, which is the URL of this service: it accepts its own tokens anyway`
    report('CARILLON_ISSUERS', reason, 'leave that entry out')
  }
  return faults
}
