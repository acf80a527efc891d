// The variables that begin with `CARILLON_` and that no setting has. Nearly the name of one: the name is misspelt, and the setting that was
// meant is not in force. All others may belong to another program or to Kubernetes, whose service links use such names.
import { settings } from './settings.ts'
import type { Environment } from './values.ts'

const prefix = 'CARILLON_'
const maxMistakes = 3

export function unknownNames(env: Environment): { misspelt: string[]; others: string[] } {
  const known: string[] = settings.flatMap(({ name }) => [name, `${name}_FILE`])
  const isMisspelt = (name: string) => {
    const letters = name.slice(prefix.length).replaceAll('_', '').length
    const max = Math.min(maxMistakes, Math.floor(letters / 3))
    return known.some((one) => isWithin(max, name, one))
  }
  const names = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && env[name] !== undefined && !known.includes(name),
  )
  return { misspelt: names.filter(isMisspelt), others: names.filter((name) => !isMisspelt(name)) }
}

/** Whether `a` becomes `b` by at most `max` changes: a letter more, less or another, or two neighbours swapped. */
function isWithin(max: number, a: string, b: string): boolean {
  if (a === b) return true
  if (a[0] === b[0]) return isWithin(max, a.slice(1), b.slice(1))
  if (max === 0) return false
  const isSwapped = a[0] === b[1] && a[1] === b[0]
  if (isSwapped && isWithin(max - 1, a.slice(2), b.slice(2))) return true
  const restOfA = a.slice(1)
  const restOfB = b.slice(1)
  return isWithin(max - 1, restOfA, b) || isWithin(max - 1, a, restOfB) || isWithin(max - 1, restOfA, restOfB)
}
