// The claims of a token. Checks its contents in full, in about 10 us, before its signature, which costs about 110 us. A
// token that passes is one that this service issued, if its signature is valid (RFC 7519, RFC 9068).
import { madeAt, newId } from '../basics/ids.ts'

/** No token lives longer, whatever the settings are. */
export const maxTokenLifeMs = 15 * 60_000
export const maxTokenLifeSeconds = maxTokenLifeMs / 1_000
/** Characters. Ours have 700 to 1,800. A request has room for 16,000; parsing them blocks the event loop for 0.7 ms. */
const maxTokenLength = 2_048
/** How far another node's clock may be ahead of ours. */
export const clockLeewaySeconds = 60

/** A revocation is kept until no token that it revokes is alive, including one that a node renewed before it received the revocation. */
export const revocationKeptForMs = maxTokenLifeMs + clockLeewaySeconds * 1000

/** The sign-in that a token names. Only an issued token has an `issuedGeneration`. */
export type SignIn = {
  userId: string
  signInId: string
  signedInAt: number
  generation: number
  /** How often the sign-in had been rotated; 0 if absent. */
  signInGeneration?: number
  issuedGeneration?: number
}

export type Claims = {
  sub: string
  /** Absent in an issued token, and only there. */
  preferred_username?: string
  sid: string
  auth_time: number
  /** The user's credential generation. */
  gen: number
  /** In an issued token, which opens the inbox alone. */
  scope?: 'inbox'
  /** In an issued token: the user's issued generation. */
  ign?: number
  /** The generation of the sign-in, which rises with each change of a credential; absent for 0. */
  sgn?: number
  /** In a token that the owner of a session requested: it never outlives the session, so it is not renewed. */
  from?: 'session'
  iss: string
  aud: string
  iat: number
  exp: number
  jti: string
  nbf?: number
}
type ReadToken = {
  kid: string
  claims: Claims
  /** The signed text (RFC 7515, section 5.2), and the signature as base64url. */
  signed: string
  signature: string
}

/** `confirmedAt`: when the user last proved a password or a factor, in milliseconds; the time of the sign-in if absent. */
export type Claimed = SignIn & { username: string | null; isOfSession?: boolean; confirmedAt?: number }

/** `at` and `endsAt` are in milliseconds, the claims in seconds. An issued token does not name the user (decision 0018). */
export function claimsOf(
  { userId, username, signInId, generation, signInGeneration = 0, issuedGeneration, isOfSession, confirmedAt }: Claimed,
  { issuer, at, endsAt }: { issuer: string; at: number; endsAt: number },
): Claims {
  return {
    ...(username !== null && issuedGeneration === undefined && { preferred_username: username }),
    sid: signInId,
    auth_time: Math.floor((confirmedAt ?? madeAt(signInId)) / 1000),
    gen: generation,
    ...(issuedGeneration !== undefined && { scope: 'inbox', ign: issuedGeneration }),
    ...(signInGeneration > 0 && { sgn: signInGeneration }),
    ...(isOfSession && { from: 'session' }),
    iss: issuer,
    aud: issuer,
    sub: userId,
    iat: Math.floor(at / 1000),
    exp: Math.floor(endsAt / 1000),
    jti: newId(at),
  }
}

const shape = /^([\w-]+)\.([\w-]+)\.([\w-]{85}[AQgw])$/
const headerNames = 'alg,kid,typ'
const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Null if the token has not the form of ours, or names another algorithm, type, issuer or audience. */
export function readToken(token: string, issuer: string): ReadToken | null {
  if (token.length > maxTokenLength) return null
  const [, headerPart = '', payloadPart = '', signature = ''] = shape.exec(token) ?? []
  const header = objectIn(headerPart)
  // Exactly the names that we write, so no embedded key, no extension and no other spelling of a name.
  if (header === null || Object.keys(header).sort().join() !== headerNames) return null
  const { alg, typ, kid } = header
  if (alg !== 'EdDSA' || typ !== 'at+jwt' || typeof kid !== 'string') return null
  const claims = objectIn(payloadPart)
  if (claims === null || claims.iss !== issuer || claims.aud !== issuer || !hasSoundClaims(claims)) return null
  return { kid, claims, signed: `${headerPart}.${payloadPart}`, signature }
}

/** False for an expired token, and for one of another node whose clock is too far ahead of ours. */
export function isCurrent({ iat, exp, nbf = iat }: Claims, now: number): boolean {
  const seconds = Math.floor(now / 1000)
  return exp * 1000 > now && iat <= seconds + clockLeewaySeconds && (nbf === iat || nbf <= seconds)
}

// The JSON object in a segment, or null if it is not spelled exactly as we write it: no name twice (readers take
// different values; RFC 7519, section 4), no white space, no unused bits after the last byte (RFC 4648, section 3.5).
function objectIn(segment: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString())
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    const isOurs = isObject && Buffer.from(JSON.stringify(parsed)).toString('base64url') === segment
    return isOurs ? (parsed as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function hasSoundClaims(claims: Record<string, unknown>): claims is Claims {
  const { sub, jti, sid, iat, exp, gen, nbf } = claims
  const ids = [sub, jti, sid].every((claim) => typeof claim === 'string' && idShape.test(claim))
  const times = [iat, exp].every((claim) => Number.isSafeInteger(claim))
  if (!ids || !times || !isGeneration(gen) || !isKnownKind(claims) || !isAuthTime(claims)) return false
  return (nbf === undefined || typeof nbf === 'number') && (exp as number) - (iat as number) <= maxTokenLifeSeconds
}

/** RFC 9068, section 2.2.1: the time of the sign-in or of a later confirmation; after `iat` only by the difference of two clocks. */
function isAuthTime({ auth_time: time, sid, iat, scope }: Record<string, unknown>): boolean {
  const signedInAt = Math.floor(madeAt(sid as string) / 1000)
  if (time === signedInAt) return true
  if (!Number.isSafeInteger(time) || scope !== undefined) return false
  return (time as number) > signedInAt && (time as number) <= (iat as number) + clockLeewaySeconds
}

/** The token of a sign-in, of a session, or an issued one: each with exactly the claims that we give it. */
function isKnownKind({ scope, ign, sgn, from, preferred_username: name }: Record<string, unknown>): boolean {
  if (scope !== undefined)
    return scope === 'inbox' && isGeneration(ign) && sgn === undefined && from === undefined && name === undefined
  if (sgn !== undefined && !(isGeneration(sgn) && sgn !== 0)) return false
  if (typeof name !== 'string' || name === '' || ign !== undefined) return false
  return from === undefined || from === 'session'
}

const isGeneration = (claim: unknown) => Number.isSafeInteger(claim) && (claim as number) >= 0
