// Which settings contradict each other, or expose the service to other machines? Faults that no single setting has.
import type { Fault } from '../errors.ts'
import type { Config } from './settings.ts'
import { formatDuration, isLoopback } from './values.ts'

/** A setting that could not be read is absent here, and its conflicts are not reported. */
export function conflicts(config: Partial<Config>): Fault[] {
  const { sessionIdleMs, sessionLifetimeMs, tokenLifetimeMs, tokenChainMs } = config
  const faults = exposedHttp(config)
  if (sessionIdleMs !== undefined && sessionLifetimeMs !== undefined && sessionIdleMs > sessionLifetimeMs) {
    const reason = `is ${formatDuration(sessionIdleMs)}, longer than CARILLON_SESSION_LIFETIME (${formatDuration(sessionLifetimeMs)})`
    faults.push({ field: 'CARILLON_SESSION_IDLE', reason: `${reason}; make it that long at most` })
  }
  if (tokenLifetimeMs !== undefined && tokenChainMs !== undefined && tokenChainMs < tokenLifetimeMs) {
    const reason = `is ${formatDuration(tokenChainMs)}, shorter than CARILLON_TOKEN_LIFETIME (${formatDuration(tokenLifetimeMs)})`
    faults.push({ field: 'CARILLON_TOKEN_CHAIN', reason: `${reason}; make it that long at least` })
  }
  return faults
}

const remedy =
  'where passwords can be read on the way; set CARILLON_PUBLIC_URL=https://... behind a TLS proxy, ' +
  'or CARILLON_INSECURE_HTTP=on'

/** If a public URL is set, it decides; else the address that the service listens on. */
function exposedHttp({ host, publicUrl, insecureHttp }: Partial<Config>): Fault[] {
  if (insecureHttp !== false) return []
  if (publicUrl !== undefined) {
    const { protocol, hostname } = new URL(publicUrl)
    if (protocol === 'https:' || isLoopback(hostname)) return []
    return [{ field: 'CARILLON_PUBLIC_URL', reason: `is ${JSON.stringify(publicUrl)}: plain HTTP, ${remedy}` }]
  }
  if (host === undefined || isLoopback(host)) return []
  return [{ field: 'CARILLON_HOST', reason: `is ${JSON.stringify(host)}: plain HTTP beyond this machine, ${remedy}` }]
}
