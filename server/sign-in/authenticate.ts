// Request headers -> subject, or null. The one choke point of both variants.

import type { Sessions } from './session.ts'
import type { PageOf, Subject } from './subject.ts'
import type { AccessTokens, TokenSubject } from './token/access-token.ts'

/** What a request presents: every value of `Authorization`, and the cookie header as it came. */
export type Presented = { authorization: readonly string[]; cookie: string | undefined }
type Parts = { sessions: Sessions; accessTokens: AccessTokens; cookieName: string }

const space = 0x20
const tab = 0x09
const equalsSign = 0x3d
const semicolonSign = 0x3b
const bearer = /^Bearer +([\w.~+/-]+=*)$/i

/**
 * Where an `Authorization` header is present it alone is the proof, valid or not: the cookie is not looked at. `pageOf`
 * names a page to read with the look-up of a session; a token has no look-up.
 */
export async function authenticate(parts: Parts, presented: Presented, pageOf?: PageOf): Promise<Subject | null> {
  if (presented.authorization.length > 0) return authenticateToken(parts, presented)
  const secret = sessionSecret(presented.cookie, parts.cookieName)
  return secret === null ? null : parts.sessions.verify(secret, pageOf)
}

/**
 * For what stays open on the strength of a proof that was valid: until when it holds, in milliseconds, or null where it
 * ended. Keeps nothing of the request but the proof.
 */
export function holdsUntil(parts: Parts, presented: Presented, subject: Subject): () => Promise<number | null> {
  const { sessions, accessTokens, cookieName } = parts
  if (subject.proof === 'access-token') return async () => accessTokens.validUntil(subject as TokenSubject)
  const secret = sessionSecret(presented.cookie, cookieName) ?? ''
  return () => sessions.validUntil(secret)
}

export async function authenticateToken(
  { accessTokens }: Pick<Parts, 'accessTokens'>,
  { authorization }: Pick<Presented, 'authorization'>,
): Promise<TokenSubject | null> {
  const token = bearerToken(authorization)
  return token === null ? null : accessTokens.verify(token)
}

/** The token of `Authorization: Bearer` (RFC 6750, section 2.1), or null: another scheme, another form, or two. */
export function bearerToken(authorization: readonly string[]): string | null {
  const [only, another] = authorization
  if (only === undefined || another !== undefined) return null
  // As everybody writes it: what follows is checked by whoever knows its form.
  if (only.startsWith('Bearer ') && only.charCodeAt(7) !== space) return only.slice(7)
  return bearer.exec(only)?.[1] ?? null
}

/** The session cookie's value, or null if there is none or if two of them differ. */
export function sessionSecret(cookieHeader: string | undefined, name: string): string | null {
  if (cookieHeader === undefined) return null
  const secrets = sessionSecrets(cookieHeader, name)
  return secrets.length === 1 ? (secrets[0] as string) : null
}

/**
 * Every distinct value that the cookie header has under exactly this name. Only SP and HTAB around name and value are
 * stripped (RFC 6265bis, section 5.6): a browser lets a sibling host set `\xA0__Host-carillon`, and trim() would make that
 * our cookie.
 */
export function sessionSecrets(cookieHeader: string | undefined, name: string): string[] {
  const values: string[] = []
  if (cookieHeader === undefined) return values
  // The name is searched for, and the header not split: 15,000 semicolons cost 0.4 ms of the event loop.
  for (let at = cookieHeader.indexOf(name); at >= 0; at = cookieHeader.indexOf(name, at + 1)) {
    const equals = afterBlanks(cookieHeader, at + name.length)
    if (cookieHeader.charCodeAt(equals) !== equalsSign || !beginsPair(cookieHeader, at)) continue
    const semicolon = cookieHeader.indexOf(';', equals)
    const value = stripped(cookieHeader, equals + 1, semicolon < 0 ? cookieHeader.length : semicolon)
    if (value !== values[0]) values.push(value)
  }
  return values.length < 2 ? values : [...new Set(values)]
}

/** Whether only blanks are between this place and the semicolon before it, or the start. */
function beginsPair(text: string, at: number): boolean {
  let start = at
  while (start > 0 && isBlank(text.charCodeAt(start - 1))) start--
  return start === 0 || text.charCodeAt(start - 1) === semicolonSign
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (isBlank(text.charCodeAt(at))) at++
  return at
}

function stripped(text: string, from: number, to: number): string {
  let [start, end] = [from, to]
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(unit: number): boolean {
  return unit === space || unit === tab
}
