// Is every name that begins with CARILLON_ a setting? A misspelt name must not be ignored silently.
import { table } from './settings.ts'
import type { Environment, SettingFault } from './values.ts'

export function unknownNames(env: Environment): SettingFault[] {
  const known: string[] = table.flatMap(({ name }) => [name, `${name}_FILE`])
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('CARILLON_') && env[name] !== undefined && !known.includes(name),
  )
  return unknown.map((name) => ({ field: name, ...whyUnknown(name, known) }))
}

/** Kubernetes sets such names in every pod for each Service; a Service called `carillon` uses our prefix. */
const serviceLink = /^CARILLON_(SERVICE_(HOST|PORT)|PORT_\d+_)/

function whyUnknown(name: string, known: readonly string[]): Omit<SettingFault, 'field'> {
  if (serviceLink.test(name))
    return { reason: 'is no setting but a Kubernetes service link', remedy: 'set enableServiceLinks: false' }
  const distances = known.map((other) => editDistance(name, other))
  return { reason: 'is no setting', remedy: `the nearest one is ${known[distances.indexOf(Math.min(...distances))]}` }
}

/** Levenshtein distance: how many characters to insert, delete or replace to get from a to b. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
