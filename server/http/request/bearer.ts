// The bearer tokens of a request (RFC 6750, section 2.1).
import type { IncomingMessage } from 'node:http'

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

const space = 0x20
const bearer = /^Bearer +([\w.~+/-]+=*)$/i

/** The token of `Authorization: Bearer` (RFC 6750, section 2.1); null for another scheme, another form, or two fields. */
export function bearerToken(authorization: readonly string[]): string | null {
  const [only, another] = authorization
  if (only === undefined || another !== undefined) return null
  // The usual spelling, without the regular expression; the token's own form is checked when it is verified.
  if (only.startsWith('Bearer ') && only.charCodeAt(7) !== space) return only.slice(7)
  return bearer.exec(only)?.[1] ?? null
}
