// Do the settings fit, each for itself and all together? Which values are right at all is said by config/, whose faults
// are handed in.
import { isLoopback, type SettingFault } from '../config/values.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

export type Settings = {
  host: string
  publicUrl?: string
}

type DatabaseTls = 'refused' | 'none' | 'unverified'

export function settingFaults(faults: readonly SettingFault[]): Finding[] {
  return faults.map(({ field, reason, remedy = 'see docs/config.md' }) =>
    fault('setting', { found: `${field} ${reason}`, change: `${field}: ${remedy}` }),
  )
}

/** `databaseTls`: how the connection to a PostgreSQL on another machine is protected, if that leaves something to say. */
export function examineSettings({ host, publicUrl }: Settings, databaseTls?: DatabaseTls): Finding[] {
  const findings = [ok('settings', 'each of them fits'), publicUrlFinding(host, publicUrl)]
  if (publicUrl?.startsWith('https:') && !isLoopback(host))
    findings.push(
      warning('CARILLON_HOST', {
        found: `${host} takes plain HTTP from other machines, past the proxy`,
        change: 'CARILLON_HOST=127.0.0.1 (in a container: publish the port to the proxy alone)',
      }),
    )
  return databaseTls === undefined ? findings : [...findings, databaseFinding(databaseTls)]
}

function databaseFinding(tls: DatabaseTls): Finding {
  const found =
    tls === 'unverified'
      ? "the certificate of PostgreSQL is not checked: another machine can take the server's place"
      : 'PostgreSQL on another machine without TLS: what it holds can be read on the way'
  return warning('database URL', { found, change: 'CARILLON_DATABASE_URL with sslmode=verify-full' })
}

function publicUrlFinding(host: string, publicUrl: string | undefined): Finding {
  const check = 'public URL'
  if (publicUrl?.startsWith('https:')) return ok(check, publicUrl)
  const isHere = isLoopback(publicUrl === undefined ? host : new URL(publicUrl).hostname)
  if (isHere) return ok(check, publicUrl ?? 'not set: for browsers on this machine only')
  const found = `${publicUrl ?? host} is plain HTTP: passwords and cookies can be read on the way`
  return warning(check, { found, change: 'CARILLON_PUBLIC_URL=https://..., with a TLS proxy in front' })
}
