// Which settings contradict each other? exposure.ts has the checks of settings that expose data to the network.
import type { Config } from './settings.ts'
import { formatDuration, type SettingFault } from './values.ts'

/** A setting that could not be read is absent from the argument, and its conflicts are not reported. */
export function conflicts({
  sessionIdleMs,
  sessionLifetimeMs,
  tokenLifetimeMs,
  tokenChainMs,
}: Partial<Config>): SettingFault[] {
  const faults: SettingFault[] = []
  if (sessionIdleMs !== undefined && sessionLifetimeMs !== undefined && sessionIdleMs > sessionLifetimeMs) {
    const reason = `is ${formatDuration(sessionIdleMs)}, longer than CARILLON_SESSION_LIFETIME (${formatDuration(sessionLifetimeMs)})`
    faults.push({ field: 'CARILLON_SESSION_IDLE', reason, remedy: 'make it at most that long' })
  }
  if (tokenLifetimeMs !== undefined && tokenChainMs !== undefined && tokenChainMs < tokenLifetimeMs) {
    const reason = `is ${formatDuration(tokenChainMs)}, shorter than CARILLON_TOKEN_LIFETIME (${formatDuration(tokenLifetimeMs)})`
    faults.push({ field: 'CARILLON_TOKEN_CHAIN', reason, remedy: 'make it at least that long' })
  }
  return faults
}
