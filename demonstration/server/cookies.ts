// Which cookies of a request belong to a world? Only those reach it: the visitor's own session at this service has the same origin, and
// its secret must reach neither the world nor the page (SECURITY.md, S13).
import { stripBlanks } from '../../server/basics/blanks.ts'
import { cookiePairs } from '../../server/http/request/credentials.ts'

/** A `Cookie` field with only the pairs of these names; undefined if there is none. */
export function onlyCookies(field: string, names: ReadonlySet<string>): string | undefined {
  const kept = cookiePairs(field).filter(({ name }) => names.has(name))
  return kept.length === 0 ? undefined : stripBlanks(kept.map(({ pair }) => pair).join(';'))
}

/** The field as it was sent, but for the values of other cookies. A pair without a name is a value. */
export function maskedCookies(field: string, names: ReadonlySet<string>): string {
  const masked = cookiePairs(field).map(({ name, pair }) =>
    names.has(name) ? pair : `${/^(?:[^=]*=|[ \t]*)/.exec(pair)?.[0]}…`,
  )
  return masked.join(';')
}
