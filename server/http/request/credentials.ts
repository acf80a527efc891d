// The credentials that a request carries, in cookies and as bearer tokens, and how a cookie of the service is set and removed (RFC 6265bis). The
// package cookie, which Fastify loads, keeps only the first of two equal names, and decodes.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Cookie } from '../site.ts'

/** Compiling a pattern costs ten times as much as a search with it, and nearly every request needs the same one. */
let last = { name: '', pattern: /^/g }

function patternOf(name: string): RegExp {
  // Searches for the name and does not split the header: 15,000 semicolons cost 0.4 ms of the event loop.
  if (name !== last.name) last = { name, pattern: new RegExp(`(?:^|;)[ \t]*${RegExp.escape(name)}[ \t]*=([^;]*)`, 'g') }
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

/** Every distinct value of this name. Only SP and HTAB are stripped (RFC 6265bis, 5.6): a sibling host can set `\xA0__Host-carillon`. */
export function sessionSecrets(cookieHeader: string | undefined, name: string): string[] {
  const pattern = patternOf(name)
  const values: string[] = []
  // Not `matchAll`, which copies the pattern: 0.5 us of each request. A search without a result begins the next one at the start.
  for (let found = pattern.exec(cookieHeader ?? ''); found !== null; found = pattern.exec(cookieHeader ?? ''))
    values.push(stripBlanks(found[1] as string))
  return values.length < 2 ? values : [...new Set(values)]
}

/** Readable by no script, sent by no other site's form, kept to this host by `__Host-` if the public URL has no path. '' removes it. */
export function setCookie(reply: FastifyReply, cookie: Cookie, value: string): void {
  reply.header('set-cookie', cookieText(cookie, value))
}

export function cookieText({ name, path, isSecure, lifetimeMs, sameSite = 'Lax' }: Cookie, value: string): string {
  const secure = isSecure ? '; Secure' : ''
  const maxAgeSeconds = value === '' ? 0 : Math.floor(lifetimeMs / 1000)
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`
}

/** Every `Authorization` field, including those that Node's parsed headers leave out. */
export function authorizationsOf({ headers, rawHeaders }: IncomingMessage): string[] {
  const values: string[] = []
  if (headers.authorization !== undefined)
    for (let i = 0; i < rawHeaders.length; i += 2)
      if (rawHeaders[i]?.toLowerCase() === 'authorization') values.push(rawHeaders[i + 1] ?? '')
  return values
}

/** Every bearer token of the request: a sign-out ends all of them. */
export function presentedTokens(raw: IncomingMessage): string[] {
  return authorizationsOf(raw).flatMap((value) => bearerToken([value]) ?? [])
}

const bearer = /^Bearer +([\w.~+/-]+=*)$/i

/** The token of `Authorization: Bearer` (RFC 6750, section 2.1); null for another scheme, another form, or two fields. */
export function bearerToken(authorization: readonly string[]): string | null {
  const [only, another] = authorization
  if (only === undefined || another !== undefined) return null
  // The usual spelling, without the regular expression; the token's own form is checked when it is verified.
  if (only.startsWith('Bearer ') && only[7] !== ' ') return only.slice(7)
  return bearer.exec(only)?.[1] ?? null
}

/** Strips SP and HTAB, the only blanks around a field value (RFC 9110, section 5.6.3). To a proxy or a browser, U+00A0 is part of a value. */
export function stripBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (isBlank(text[start])) start++
  while (end > start && isBlank(text[end - 1])) end--
  return text.slice(start, end)
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
