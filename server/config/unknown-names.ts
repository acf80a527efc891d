// Is every name that begins with CARILLON_ a setting? A misspelt name must not be ignored silently.
import { table } from './settings.ts'
import type { Environment, SettingFault } from './values.ts'

export function unknownNames(env: Environment): SettingFault[] {
  const known: string[] = table.flatMap(({ name }) => [name, `${name}_FILE`])
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('CARILLON_') && env[name] !== undefined && !known.includes(name),
  )
  return unknown.map((field) =>
    serviceLink.test(field)
      ? { field, reason: 'is a Kubernetes service link, not a setting', remedy: 'set enableServiceLinks: false' }
      : { field, reason: 'is not a setting', remedy: 'correct or remove the name; docs/config.md lists all settings' },
  )
}

/** Kubernetes sets such names in every pod for each Service; a Service called `carillon` uses our prefix. */
const serviceLink = /^CARILLON_(SERVICE_(HOST|PORT)|PORT_\d+_)/
