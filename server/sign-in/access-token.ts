// Variant 2, stateless: the server keeps nothing, the caller carries a signed token (RFC 9068, `at+jwt`). Issue, verify,
// revoke: the same verbs in the same order as session.ts. Revoking is the exception that a stateless proof normally
// lacks: token-cutoffs.ts.
import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { BoundedCache } from '../bounded-cache.ts'
import { notAuthenticated } from '../errors.ts'
import { madeAt, newId } from '../ids.ts'
import type { SigningKeys } from './signing-keys.ts'
import type { Subject } from './subject.ts'
import type { TokenCutoffs } from './token-cutoffs.ts'

/** No token lives longer, whatever is set. */
const longestTokenLifeMs = 15 * 60_000
/** How far another node's clock may be ahead of ours. */
const clockLeewaySeconds = 60
/** A cutoff is kept until nothing that it cuts is alive, a token included that a node renewed before it heard of it. */
export const cutoffKeptForMs = longestTokenLifeMs + clockLeewaySeconds * 1000
const mostCachedTokens = 20_000
const strictShape = /^[\w-]+\.[\w-]+\.[\w-]{86}$/
const headerNames = 'alg,kid,typ'
const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type TokenOptions = {
  keys: SigningKeys
  cutoffs: TokenCutoffs
  now: () => number
  /** `iss` and `aud`: this service's public URL, which with a free port is known only when it listens. */
  issuer: () => string
  lifetimeMs: number
  /** How long after the sign-in a token may still be renewed, in milliseconds. */
  chainMs: number
}
type Claims = { sub: string; preferred_username: string; sid: string; auth_time: number; iat: number; exp: number }
export type IssuedToken = { token: string; expiresAt: number }
export type TokenSubject = Subject & { signInId: string; signedInAt: number }

export class AccessTokens {
  readonly #options: TokenOptions
  readonly #verified = new BoundedCache<TokenSubject>(mostCachedTokens)

  constructor(options: TokenOptions) {
    this.#options = options
  }

  /**
   * A token for a user whose credentials were checked. `signedInAt` is the moment before they were read, so that what
   * was cut in between stays cut. Nothing is stored.
   */
  issue(user: { id: string; username: string }, signedInAt: number): Promise<IssuedToken> {
    const signIn = { userId: user.id, username: user.username, signInId: newId(signedInAt), signedInAt }
    return this.#sign(signIn)
  }

  /** Whose token it is, or null where it is not one of ours, has expired or was cut. Reads no store. */
  async verify(token: string): Promise<TokenSubject | null> {
    const subject = this.#verified.get(token) ?? (await this.#verifySignature(token))
    return subject === null || this.validUntil(subject) === null ? null : subject
  }

  /** Until when a token that was verified lives, in milliseconds; null where it has ended or was cut. */
  validUntil(subject: TokenSubject): number | null {
    const { cutoffs, now } = this.#options
    return now() >= subject.expiresAt || cutoffs.isCut(subject) ? null : subject.expiresAt
  }

  /** Cuts every token of this sign-in, renewed ones included. */
  async revoke(subject: TokenSubject): Promise<void> {
    const at = this.#options.now()
    await this.#options.cutoffs.cut({
      userId: subject.userId,
      signInId: subject.signInId,
      notBefore: at,
      expiresAt: at + cutoffKeptForMs,
    })
  }

  /** A fresh token of the same sign-in. Throws UNAUTHORIZED where the sign-in is too long ago. */
  renew(subject: TokenSubject): Promise<IssuedToken> {
    if (this.#options.now() >= subject.signedInAt + this.#options.chainMs) throw notAuthenticated()
    return this.#sign(subject)
  }

  async #sign(signIn: {
    userId: string
    username: string
    signInId: string
    signedInAt: number
  }): Promise<IssuedToken> {
    const { keys, now, lifetimeMs, chainMs } = this.#options
    const issuer = this.#options.issuer()
    const at = now()
    const issuedAt = Math.floor(at / 1000)
    // The last of a chain ends with it.
    const endsAt = Math.min(at + Math.min(lifetimeMs, longestTokenLifeMs), signIn.signedInAt + chainMs)
    const expiry = Math.floor(endsAt / 1000)
    const { kid, privateKey } = keys.current
    const token = await new SignJWT({
      preferred_username: signIn.username,
      sid: signIn.signInId,
      auth_time: Math.floor(signIn.signedInAt / 1000),
    })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject(signIn.userId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiry)
      .setJti(newId(at))
      .sign(privateKey)
    return { token, expiresAt: expiry * 1000 }
  }

  async #verifySignature(token: string): Promise<TokenSubject | null> {
    if (!strictShape.test(token) || !isCanonicalBase64url(token)) return null
    const { keys, now } = this.#options
    const issuer = this.#options.issuer()
    const verified = await jwtVerify(token, ({ kid }) => keys.find(kid), {
      algorithms: ['EdDSA'],
      issuer,
      audience: issuer,
      requiredClaims: ['sub', 'jti', 'sid', 'iat', 'exp', 'auth_time', 'preferred_username'],
      currentDate: new Date(now()),
    }).catch(() => null)
    if (verified === null) return null
    const { payload, protectedHeader } = verified
    // Exactly the header that we write: none that brings a key, an extension or another spelling of the type.
    if (Object.keys(protectedHeader).sort().join() !== headerNames || protectedHeader.typ !== 'at+jwt') return null
    if (!isWrittenAsByUs(token, [protectedHeader, payload])) return null
    if (!hasSoundClaims(payload, issuer, Math.floor(now() / 1000))) return null
    const subject: TokenSubject = {
      userId: payload.sub,
      username: payload.preferred_username,
      proof: 'access-token',
      expiresAt: payload.exp * 1000,
      signInId: payload.sid,
      signedInAt: madeAt(payload.sid),
    }
    this.#verified.set(token, subject, 1)
    return subject
  }
}

function hasSoundClaims(payload: JWTPayload, issuer: string, now: number): payload is JWTPayload & Claims {
  const { sub, jti, sid, preferred_username: name, iat, exp, auth_time, aud } = payload
  const ids = [sub, jti, sid].every((claim) => typeof claim === 'string' && idShape.test(claim))
  const times = [iat, exp].every((claim) => Number.isSafeInteger(claim))
  if (!ids || !times || typeof name !== 'string' || name === '' || aud !== issuer) return false
  if (auth_time !== Math.floor(madeAt(sid as string) / 1000)) return false
  const [issuedAt, expiry] = [iat as number, exp as number]
  return issuedAt <= now + clockLeewaySeconds && expiry - issuedAt <= longestTokenLifeMs / 1000
}

/** Nothing twice and nothing between: of two equal names (RFC 7519, section 4) another reader may take the other. */
function isWrittenAsByUs(token: string, parts: readonly object[]): boolean {
  const written = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  return token.startsWith(`${written.join('.')}.`)
}

/** One spelling only: RFC 4648 section 3.5, no bits set beyond the last byte. */
function isCanonicalBase64url(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
}
