// Which cookies of a request belong to a world? Only those reach it: the visitor's own session at this service has the same origin, and
// its secret must reach neither the world nor the page (SECURITY.md, S13).
import { stripBlanks } from '../basics/blanks.ts'

/** A `Cookie` field with only the pairs of these names; undefined if there is none. */
export function onlyCookies(field: string, names: ReadonlySet<string>): string | undefined {
  const kept = field.split(';').filter((pair) => names.has(nameOf(pair)))
  return kept.length === 0 ? undefined : stripBlanks(kept.join(';'))
}

/** The field as it was sent, but for the values of other cookies. */
export function maskedCookies(field: string, names: ReadonlySet<string>): string {
  return field
    .split(';')
    .map((pair) => (names.has(nameOf(pair)) ? pair : masked(pair)))
    .join(';')
}

function nameOf(pair: string): string {
  return stripBlanks(pair.slice(0, Math.max(0, pair.indexOf('='))))
}

/** A pair without a name is a value. */
function masked(pair: string): string {
  const equals = pair.indexOf('=')
  return equals < 0 ? `${/^[ \t]*/.exec(pair)?.[0]}…` : `${pair.slice(0, equals + 1)}…`
}
