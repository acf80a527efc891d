// A name near a setting's is misspelt. Others are another program's, or Kubernetes' links.
import { settings } from './settings.ts'
import type { Environment } from './values.ts'

const prefix = 'CARILLON_'

export function unknownNames(env: Environment): { misspelt: string[]; others: string[] } {
  const known: string[] = settings.flatMap(({ name }) => [name, `${name}_FILE`])
  const isMisspelt = (name: string) => {
    const letters = name.slice(prefix.length).replaceAll('_', '').length
    const max = Math.min(3, Math.floor(letters / 3))
    return known.some((one) => isWithin(max, name, one))
  }
  const names = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && env[name] !== undefined && !known.includes(name),
  )
  return { misspelt: names.filter(isMisspelt), others: names.filter((name) => !isMisspelt(name)) }
}

/** A change is one letter less, more or different, or two neighbours swapped. */
function isWithin(max: number, a: string, b: string): boolean {
  if (a === b) return true
  if (a[0] === b[0]) return isWithin(max, a.slice(1), b.slice(1))
  const wanted = b.charAt(0)
  const rest = a.slice(1)
  const changed = [rest, wanted + a, wanted + rest, rest.charAt(0) + a.charAt(0) + rest.slice(1)]
  return max > 0 && changed.some((one) => isWithin(max - 1, one, b))
}
