// Request headers -> subject, or null. The one choke point of both variants.
import type { AccessTokens, TokenSubject } from './access-token.ts'
import type { Sessions } from './session.ts'
import type { Subject } from './subject.ts'

/** What a request presents: every value of `Authorization`, and the cookie header as it came. */
export type Presented = { authorization: readonly string[]; cookie: string | undefined }
type Parts = { sessions: Sessions; accessTokens: AccessTokens; cookieName: string }

const space = 0x20
const bearer = /^Bearer +([\w.~+/-]+=*)$/i

/** Where an `Authorization` header is present it alone is the proof, valid or not: the cookie is not looked at. */
export async function authenticate(parts: Parts, presented: Presented): Promise<Subject | null> {
  if (presented.authorization.length > 0) return authenticateToken(parts, presented)
  const secret = sessionSecret(presented.cookie, parts.cookieName)
  return secret === null ? null : parts.sessions.verify(secret)
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

/** The cookie's value, or null where there is none, or two that differ. */
export function sessionSecret(cookieHeader: string | undefined, name: string): string | null {
  if (cookieHeader === undefined) return null
  let found: string | null = null
  for (const pair of cookieHeader.split(';')) {
    const equals = pair.indexOf('=')
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue
    const value = pair.slice(equals + 1).trim()
    if (found !== null && found !== value) return null
    found = value
  }
  return found
}
