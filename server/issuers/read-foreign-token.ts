// The contents of a foreign token, checked in full before its signature, so that most forged tokens cost little (RFC 8725).
import { parseJson } from '../basics/strict-json.ts'
import type { IssuerAlgorithm, IssuerSetting } from '../config/issuers.ts'

/** Characters. Tokens of large providers list groups and roles, and have up to 6,000. */
const maxLength = 8_192
const maxKidLength = 256
/** The longest lifetime of a foreign token, which the service cannot revoke. */
const maxLifeSeconds = 86_400
/** How far the issuer's clock may be ahead of ours. */
const leewaySeconds = 60

export type ReadForeignToken<Issuer = IssuerSetting> = {
  issuer: Issuer
  header: { alg: IssuerAlgorithm; kid?: string }
  /** The value of the claim that names the user; not yet checked as an external id. */
  externalId: string
  /** In milliseconds. */
  expiresAt: number
}

type Members = Readonly<Record<string, unknown>>

/** Access tokens and ID tokens: providers issue both, and `aud` says which of them are for this service. */
const types = ['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']
/** An extension that has to be understood (RFC 7515, section 4.1.11), and keys that the token brings with it. */
const refusedHeaders = ['crit', 'b64', 'jwk', 'jku', 'x5u', 'x5c']
/** `events`: a statement proves no sign-in (RFC 8417). `cnf`: a token bound to a key of its client is no bearer token (RFC 7800). */
const refusedClaims = ['events', 'cnf']

/** Null if no configured issuer can have issued this token for this service, or if it is expired or not valid yet. */
export function readForeignToken<Issuer extends IssuerSetting>(
  token: string,
  { issuers, now }: { issuers: ReadonlyMap<string, Issuer>; now: number },
): ReadForeignToken<Issuer> | null {
  if (token.length > maxLength) return null
  const [, headerPart = '', payloadPart = '', signature = ''] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token) ?? []
  const claims = objectIn(payloadPart)
  const issuer = typeof claims?.iss === 'string' ? issuers.get(claims.iss) : undefined
  if (claims === null || issuer === undefined || !isCanonical(signature)) return null
  const header = headerIn(headerPart, issuer)
  const expiresAt = endOf(claims, now)
  const externalId = Object.hasOwn(claims, issuer.claim) ? claims[issuer.claim] : undefined
  if (header === null || expiresAt === null || typeof externalId !== 'string') return null
  if (!isFor(issuer.audiences, claims.aud) || refusedClaims.some((name) => Object.hasOwn(claims, name))) return null
  return { issuer, header, externalId, expiresAt }
}

/** What the header says about algorithm and key; null if this issuer uses no such header. */
function headerIn(segment: string, { algorithms }: IssuerSetting): ReadForeignToken['header'] | null {
  const header = objectIn(segment)
  if (header === null || refusedHeaders.some((name) => Object.hasOwn(header, name))) return null
  const { typ = 'JWT', kid } = header
  const alg = algorithms.find((one) => one === header.alg)
  if (alg === undefined || typeof typ !== 'string' || !types.includes(typ.toLowerCase())) return null
  if (kid === undefined) return { alg }
  return typeof kid === 'string' && kid !== '' && kid.length <= maxKidLength ? { alg, kid } : null
}

/** RFC 7519, section 4.1.3: one audience or a list. */
function isFor(audiences: readonly string[], aud: unknown): boolean {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  return named.every((one) => typeof one === 'string') && audiences.some((one) => named.includes(one))
}

/** In milliseconds; null if the token is outside its time, or lives too long. Seconds may have fractions (RFC 7519, section 2). */
function endOf({ exp, iat, nbf }: Members, now: number): number | null {
  const seconds = now / 1000
  const hasBegun = [iat, nbf].every((time) => time === undefined || (isTime(time) && time <= seconds + leewaySeconds))
  if (!isTime(exp) || exp <= seconds || !hasBegun) return null
  const beginsAt = (iat as number | undefined) ?? seconds
  return exp - beginsAt <= maxLifeSeconds ? Math.floor(exp * 1000) : null
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}

/** The JSON object in a segment; null if it is not one, or if a name is in it twice, of which readers take different values. */
function objectIn(segment: string): Members | null {
  if (!isCanonical(segment)) return null
  try {
    const value = parseJson(Buffer.from(segment, 'base64url'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null
  } catch {
    return null
  }
}

/** Not another spelling of the same bytes (RFC 4648, section 3.5). */
function isCanonical(segment: string): boolean {
  return Buffer.from(segment, 'base64url').toString('base64url') === segment
}
