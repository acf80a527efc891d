// Which values has a cookie of the request? The package cookie, which Fastify loads, keeps only the first of two equal names, and decodes.
import { stripBlanks } from '../../basics/blanks.ts'

/** Compiling a pattern costs ten times as much as a search with it, and nearly every request needs the same one. */
let last = { name: '', pattern: /^/g }

function patternOf(name: string): RegExp {
  // Searches for the name and does not split the header: 15,000 semicolons cost 0.4 ms of the event loop.
  if (name !== last.name)
    last = { name, pattern: new RegExp(`(?:^|;)[ \t]*${RegExp.escape(name)}[ \t]*=[ \t]*((?:[^;]*[^; \t])?)`, 'g') }
  return last.pattern
}

/** The pairs of a `Cookie` field as they were sent, joined by `;`. A pair without `=` is a value without a name. */
export function cookiePairs(field: string): { name: string; pair: string }[] {
  return field.split(';').map((pair) => ({ name: stripBlanks(pair.slice(0, Math.max(0, pair.indexOf('=')))), pair }))
}

/** The session cookie's value; null if there is none, or if two values differ. */
export function sessionSecret(cookieHeader: string | undefined, name: string): string | null {
  const [secret, another] = sessionSecrets(cookieHeader, name)
  return secret === undefined || another !== undefined ? null : secret
}

/**
 * Every distinct value under exactly this name. Only SP and HTAB are stripped (RFC 6265bis, section 5.6): a browser
 * lets a sibling host set `\xA0__Host-carillon`, and `trim()` would read that as our cookie.
 */
export function sessionSecrets(cookieHeader: string | undefined, name: string): string[] {
  const pattern = patternOf(name)
  const values: string[] = []
  // Not `matchAll`, which copies the pattern: 0.5 us of each request. A search without a result begins the next one at the start.
  for (let found = pattern.exec(cookieHeader ?? ''); found !== null; found = pattern.exec(cookieHeader ?? ''))
    values.push(found[1] as string)
  return values.length < 2 ? values : [...new Set(values)]
}
