// Variant 2, stateless: the client sends a signed token (RFC 9068, `at+jwt`), which is not stored.
// A table in memory revokes it (revocations.ts).
import { auditEntry, type Source } from '../audit/entry.ts'
import { BoundedCache } from '../basics/bounded-cache.ts'
import { iso } from '../basics/clock.ts'
import { insufficientScope, invalidCredentials, notAuthenticated } from '../basics/errors.ts'
import { madeAt, newId } from '../basics/ids.ts'
import type { ProvedFactor, Subject } from '../http/operation.ts'
import { type FactorPolicy, strongest } from './factor-policy.ts'
import { signToken } from './key-material.ts'
import {
  type Claimed,
  type Claims,
  claimsOf,
  isCurrent,
  maxTokenLifeMs,
  readToken,
  type SignIn,
} from './read-token.ts'
import type { TokenRevocations } from './revocations.ts'
import type { SignatureChecks } from './signature-checks.ts'
import type { SigningKeys } from './signing-keys.ts'

const usualCache = 20_000
/** In characters: about 8,000 of our tokens. */
const maxRefused = 4_000_000

type Foreign = {
  cached(token: string): TokenSubject | undefined
  verify(token: string): Promise<TokenSubject | null>
}

type Current = { credentialGeneration: number }
type TokenUser = Current & { id: string; factor?: ProvedFactor | undefined }
/** `confirmedAt`: null if the sign-in gets no fresher. */
type Proved = { confirmedAt: number | null; factor?: ProvedFactor | undefined }

type TokenOptions = {
  keys: SigningKeys
  revocations: TokenRevocations
  now: () => number
  policy: Pick<FactorPolicy, 'limitedFrom'>
  /** `iss` and `aud`: the public URL. */
  issuer: () => string
  lifetimeMs: number
  /** In milliseconds after the sign-in: until then a token may be renewed. */
  chainMs: number
  /** Without it, the service accepts only its own tokens. */
  foreign?: Foreign | undefined
  signatures: SignatureChecks
  maxCached?: number | undefined
}
export type IssuedToken = { token: string; expiresAt: string }
/** `isOfSession`: it is not renewed. `kid`: absent in a foreign token. */
export type TokenSubject = Subject & SignIn & { isOfSession?: boolean; kid?: string }

export class AccessTokens {
  readonly #options: TokenOptions
  readonly #verified: BoundedCache<TokenSubject>
  /** The key that they name did not sign these. */
  readonly #refused = new BoundedCache<true>(maxRefused)

  constructor(options: TokenOptions) {
    this.#options = options
    this.#verified = new BoundedCache(options.maxCached ?? usualCache)
  }

  /** Throws INVALID_CREDENTIALS if the generation, read with the password hash, has risen since. */
  async issue(
    user: TokenUser & { username: string | null },
    signInId: string,
  ): Promise<IssuedToken> {
    const { id: userId, username, credentialGeneration: generation, factor } = user
    const signIn = { userId, username, signInId, signedInAt: madeAt(signInId), generation, factor }
    if (this.#options.revocations.isRevoked(signIn)) throw invalidCredentials()
    return this.#sign(signIn, this.#endOf(signIn))
  }

  /** The token has scope `inbox` and is its own sign-in. */
  issueForInbox(user: TokenUser & { issuedGeneration: number }, lifetimeMs: number): IssuedToken {
    const { id: userId, credentialGeneration: generation, issuedGeneration } = user
    const at = this.#options.now()
    const signIn = {
      userId,
      username: null,
      signInId: newId(at),
      signedInAt: at,
      generation,
      issuedGeneration,
    }
    return this.#sign(signIn, at + lifetimeMs)
  }

  issueForSession(signIn: Claimed & { endsAt: number }): IssuedToken {
    const endsAt = Math.min(this.#options.now() + this.#options.lifetimeMs, signIn.endsAt)
    return this.#sign({ ...signIn, isOfSession: true }, endsAt)
  }

  /**
   * Null if the token is unknown, expired or revoked. Reads the store only for an unknown key or an
   * uncached foreign token. Throws UNAVAILABLE if an issuer's keys cannot be read.
   */
  async verify(token: string): Promise<TokenSubject | null> {
    const { foreign } = this.#options
    const known = this.#verified.get(token) ?? foreign?.cached(token)
    if (known !== undefined) return this.#accepted(known)
    return (await this.verifyOurs(token)) ?? foreign?.verify(token) ?? null
  }

  /** Null for a foreign token. Reads the store only for an unknown key. */
  async verifyOurs(token: string): Promise<TokenSubject | null> {
    const subject = this.#verified.get(token) ?? (await this.#checkNew(token))
    return subject === null ? null : this.#accepted(subject)
  }

  /** Records a token from before a rotation: it may be a copy, or another tab has it. */
  #accepted(subject: TokenSubject): TokenSubject | null {
    if (this.#isAlive(subject))
      return this.#isLimited(subject) ? { ...subject, scope: 'setup' } : subject
    this.#options.revocations.noteOutdated(subject)
    return null
  }

  /** In milliseconds. */
  validUntil(subject: TokenSubject): number | null {
    if (!this.#isAlive(subject) || this.#isLimited(subject)) return null
    return Math.min(subject.expiresAt, this.#limitedFrom(subject))
  }

  #isAlive(subject: TokenSubject): boolean {
    const { revocations, now } = this.#options
    return now() < subject.expiresAt && !revocations.isRevoked(subject) && !this.#isDropped(subject)
  }

  #isLimited(subject: TokenSubject): boolean {
    return subject.scope === 'setup' || this.#options.now() >= this.#limitedFrom(subject)
  }

  /** In whole seconds, as in tokens. The policy does not concern tokens of applications. */
  #limitedFrom(signIn: TokenSubject | Claimed): number {
    if (signIn.issuedGeneration !== undefined || ('scope' in signIn && signIn.scope === 'inbox'))
      return Number.POSITIVE_INFINITY
    return Math.floor(this.#options.policy.limitedFrom(signIn) / 1_000) * 1_000
  }

  #isDropped({ kid }: TokenSubject): boolean {
    return kid !== undefined && this.#options.keys.isDropped(kid)
  }

  /** Also revokes renewed tokens. With `source`, the audit log has a sign-out. */
  async revoke({ userId, username, signInId }: TokenSubject, source?: Source): Promise<void> {
    const at = this.#options.now()
    const signOut = {
      event: 'sign-out',
      at,
      userId,
      username,
      signInId,
      detail: { variant: 'stateless' },
    } as const
    const audit = source && [auditEntry(source, signOut)]
    await this.#options.revocations.revoke({ userId, signInId, audit })
  }

  /**
   * `user`: the present row, with its generation. Throws UNAUTHORIZED for a sign-in that is too
   * old, or that the revocation of lower generations did not spare: this node may not know it yet,
   * or a backup was restored. Throws FORBIDDEN for a session's token, which must not outlive it.
   */
  async renew(subject: TokenSubject, user: Current): Promise<IssuedToken> {
    if (subject.isOfSession)
      throw insufficientScope('The token of a session is not renewed', {
        remedy: 'Request another one with the session: POST /api/me/token.',
      })
    return this.#sign(await this.#renewable(subject, user), this.#endOf(subject))
  }

  /**
   * Throws as `renew`. A revocation of lower generations must have spared the sign-in: otherwise
   * the token would revive an ended one.
   */
  async rotated(
    subject: TokenSubject,
    user: Current,
    { confirmedAt, factor }: Proved,
  ): Promise<IssuedToken> {
    const { signInGeneration = 0, ...renewable } = await this.#renewable(subject, user)
    const rotated = { ...renewable, signInGeneration: signInGeneration + 1 }
    const proved = {
      confirmedAt: confirmedAt ?? subject.confirmedAt,
      factor: strongest(subject.factor, factor),
    }
    return this.#sign({ ...rotated, ...proved }, this.#endOf(subject))
  }

  /** A dropped key's token must not become one of the next key. */
  async #renewable(
    subject: TokenSubject,
    { credentialGeneration: generation }: Current,
  ): Promise<TokenSubject> {
    const { now, chainMs, revocations } = this.#options
    const { generation: known } = subject
    if (now() >= subject.signedInAt + chainMs) throw notAuthenticated()
    const isOf =
      known === generation ||
      (known < generation && (await revocations.isExcepted(subject, generation)))
    if (!isOf || this.#isDropped(subject)) throw notAuthenticated()
    return { ...subject, generation }
  }

  #endOf({ signedInAt }: SignIn): number {
    return Math.min(
      this.#options.now() + this.#options.lifetimeMs,
      signedInAt + this.#options.chainMs,
    )
  }

  /** The token's first use needs no signature check. */
  #sign(claimed: Claimed, endsAt: number): IssuedToken {
    const { now, issuer, keys } = this.#options
    const at = now()
    const limitedFrom = this.#limitedFrom(claimed)
    const isLimited = at >= limitedFrom
    const lastEnd = isLimited ? endsAt : Math.min(endsAt, limitedFrom)
    const life = { at, endsAt: Math.min(lastEnd, at + maxTokenLifeMs) }
    const claims = claimsOf(claimed, { issuer: issuer(), ...life, isLimited })
    const key = keys.current
    const token = signToken(key, claims)
    return { token, expiresAt: iso(this.#remember(token, subjectOf(claims, key.kid)).expiresAt) }
  }

  async #checkNew(token: string): Promise<TokenSubject | null> {
    if (this.#refused.get(token)) return null
    const read = readToken(token, this.#options.issuer())
    if (read === null) return null
    if (!isCurrent(read.claims, this.#options.now())) return null
    const { keys } = this.#options
    const key = keys.find(read.kid) ?? (await keys.learn(read.kid))
    if (key === undefined) return null
    return this.#options.signatures.enqueue(async (isSigned) => {
      // An earlier check may have had the same token.
      const known = this.#verified.get(token)
      if (known !== undefined || this.#refused.get(token)) return known ?? null
      const { claims, kid, signed, signature } = read
      if (await isSigned({ key, signed, signature }))
        return this.#remember(token, subjectOf(claims, kid))
      this.#refused.set(token, true, token.length)
      return null
    })
  }

  #remember(token: string, subject: TokenSubject): TokenSubject {
    this.#verified.set(token, subject, 1)
    return subject
  }
}

function subjectOf(claims: Claims, kid: string): TokenSubject {
  return {
    userId: claims.sub,
    username: claims.preferred_username ?? null,
    proof: 'access-token',
    confirmedAt: claims.auth_time * 1000,
    expiresAt: claims.exp * 1000,
    signInId: claims.sid,
    signedInAt: madeAt(claims.sid),
    generation: claims.gen,
    kid,
    ...(claims.sgn !== undefined && { signInGeneration: claims.sgn }),
    ...(claims.from !== undefined && { isOfSession: true }),
    ...(claims.acr !== undefined && { factor: claims.acr }),
    ...(claims.scope !== undefined && { scope: claims.scope }),
    ...(claims.ign !== undefined && { issuedGeneration: claims.ign }),
  }
}
