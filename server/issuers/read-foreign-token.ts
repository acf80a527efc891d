// Checks a foreign token before its signature: most forged ones cost little (RFC 8725).
import { isObject, parseJson } from '../basics/strict-json.ts'
import type { IssuerAlgorithm, IssuerSetting } from '../config/issuers.ts'

/** With lists of groups, large providers' tokens have up to 6,000 characters. */
const maxLength = 8_192
const maxKidLength = 256
/** The service cannot revoke a foreign token. */
const maxLifeSeconds = 86_400
const leewaySeconds = 60

export type ReadForeignToken<Issuer = IssuerSetting> = {
  issuer: Issuer
  header: { alg: IssuerAlgorithm; kid?: string }
  externalId: string
  expiresAt: number
}

type Members = Readonly<Record<string, unknown>>

/** `aud` says which are for this service. */
const types = ['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']
/** RFC 7515, section 4.1.11, and keys that the token brings. */
const refusedHeaders = ['crit', 'b64', 'jwk', 'jku', 'x5u', 'x5c']
/** RFC 8417: `events` proves no sign-in. RFC 7800: `cnf` is no bearer token. */
const refusedClaims = ['events', 'cnf']

export function readForeignToken<Issuer extends IssuerSetting>(
  token: string,
  { issuers, now }: { issuers: ReadonlyMap<string, Issuer>; now: number },
): ReadForeignToken<Issuer> | null {
  if (token.length > maxLength) return null
  const [, headerPart = '', payloadPart = '', signature = ''] =
    /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token) ?? []
  const claims = objectIn(payloadPart)
  const issuer = typeof claims?.iss === 'string' ? issuers.get(claims.iss) : undefined
  if (claims === null || issuer === undefined || !isCanonical(signature)) return null
  const header = headerIn(headerPart, issuer)
  const expiresAt = endOf(claims, now)
  const externalId = Object.hasOwn(claims, issuer.claim) ? claims[issuer.claim] : undefined
  if (header === null || expiresAt === null || typeof externalId !== 'string') return null
  if (
    !isFor(issuer.audiences, claims.aud) ||
    refusedClaims.some((name) => Object.hasOwn(claims, name))
  )
    return null
  return { issuer, header, externalId, expiresAt }
}

function headerIn(
  segment: string,
  { algorithms }: IssuerSetting,
): ReadForeignToken['header'] | null {
  const header = objectIn(segment)
  if (header === null || refusedHeaders.some((name) => Object.hasOwn(header, name))) return null
  const { typ = 'JWT', kid } = header
  const alg = algorithms.find((one) => one === header.alg)
  if (alg === undefined || typeof typ !== 'string' || !types.includes(typ.toLowerCase()))
    return null
  if (kid === undefined) return { alg }
  return typeof kid === 'string' && kid !== '' && kid.length <= maxKidLength ? { alg, kid } : null
}

/** RFC 7519, section 4.1.3. */
function isFor(audiences: readonly string[], aud: unknown): boolean {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  return (
    named.every((one) => typeof one === 'string') && audiences.some((one) => named.includes(one))
  )
}

/** In milliseconds. Seconds may have fractions (RFC 7519, section 2). */
function endOf({ exp, iat, nbf }: Members, now: number): number | null {
  const seconds = now / 1000
  const hasBegun = [iat, nbf].every(
    (time) => time === undefined || (isTime(time) && time <= seconds + leewaySeconds),
  )
  if (!isTime(exp) || exp <= seconds || !hasBegun) return null
  const beginsAt = (iat as number | undefined) ?? seconds
  return exp - beginsAt <= maxLifeSeconds ? Math.floor(exp * 1000) : null
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}

/** JSON readers differ about a repeated name. */
function objectIn(segment: string): Members | null {
  if (!isCanonical(segment)) return null
  try {
    const value = parseJson(Buffer.from(segment, 'base64url'))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** RFC 4648, section 3.5: the same bytes have other spellings. */
function isCanonical(segment: string): boolean {
  return Buffer.from(segment, 'base64url').toString('base64url') === segment
}
