// Variant 2, stateless: the service stores nothing, the client sends a signed token (RFC 9068, `at+jwt`). A stateless
// proof usually cannot be revoked; ours can, by a small table in memory (revocations.ts). Same verbs as sessions.ts.
import { auditEntry, type Source } from '../audit/entry.ts'
import { BoundedCache } from '../basics/bounded-cache.ts'
import { iso } from '../basics/clock.ts'
import { insufficientScope, invalidCredentials, notAuthenticated } from '../basics/errors.ts'
import { madeAt, newId } from '../basics/ids.ts'
import type { Subject } from '../http/operation.ts'
import { signToken } from './key-material.ts'
import { type Claimed, type Claims, claimsOf, isCurrent, maxTokenLifeMs, readToken, type SignIn } from './read-token.ts'
import type { TokenRevocations } from './revocations.ts'
import type { SignatureChecks } from './signature-checks.ts'
import type { SigningKeys } from './signing-keys.ts'

const usualCache = 20_000
/** In characters: about 8,000 of our tokens. */
const maxRefused = 4_000_000

/** The tokens of other issuers (issuers/foreign-tokens.ts). */
type Foreign = { cached(token: string): TokenSubject | undefined; verify(token: string): Promise<TokenSubject | null> }

type Current = { credentialGeneration: number }
type TokenUser = Current & { id: string }

type TokenOptions = {
  keys: SigningKeys
  revocations: TokenRevocations
  now: () => number
  /** `iss` and `aud`: the service's public URL. Without a setting it is known only after the service listens. */
  issuer: () => string
  lifetimeMs: number
  /** How long after the sign-in a token may still be renewed, in milliseconds. */
  chainMs: number
  /** Undefined if the service accepts its own tokens only. */
  foreign?: Foreign | undefined
  signatures: SignatureChecks
  /** How many verified tokens are remembered. */
  maxCached?: number | undefined
}
/** As responses have it. */
export type IssuedToken = { token: string; expiresAt: string }
/** `isOfSession`: the token came from a session, and is not renewed. `kid`: the key that signed it; absent in a foreign token. */
export type TokenSubject = Subject & SignIn & { isOfSession?: boolean; kid?: string }

export class AccessTokens {
  readonly #options: TokenOptions
  readonly #verified: BoundedCache<TokenSubject>
  /** Tokens that are not signed by the key that they name. */
  readonly #refused = new BoundedCache<true>(maxRefused)

  constructor(options: TokenOptions) {
    this.#options = options
    this.#verified = new BoundedCache(options.maxCached ?? usualCache)
  }

  /** The generation was read with the password hash. Throws INVALID_CREDENTIALS if this node knows that it was raised since. */
  async issue(user: TokenUser & { username: string | null }, signInId: string): Promise<IssuedToken> {
    const { id: userId, username, credentialGeneration: generation } = user
    const signIn = { userId, username, signInId, signedInAt: madeAt(signInId), generation }
    if (this.#options.revocations.isRevoked(signIn)) throw invalidCredentials()
    return this.#sign(signIn, this.#endOf(signIn))
  }

  /** A token of scope `inbox`, a sign-in of its own. The user's generations are as they are now. */
  issueForInbox(user: TokenUser & { issuedGeneration: number }, lifetimeMs: number): IssuedToken {
    const { id: userId, credentialGeneration: generation, issuedGeneration } = user
    const at = this.#options.now()
    const signIn = { userId, username: null, signInId: newId(at), signedInAt: at, generation, issuedGeneration }
    return this.#sign(signIn, at + lifetimeMs)
  }

  /** A token of a session's sign-in: it ends with the session at the latest. */
  issueForSession(signIn: SignIn & { username: string | null; endsAt: number; confirmedAt: number }): IssuedToken {
    const endsAt = Math.min(this.#options.now() + this.#options.lifetimeMs, signIn.endsAt)
    return this.#sign({ ...signIn, isOfSession: true }, endsAt)
  }

  /**
   * The token's user, or null if the token is neither ours nor of a configured issuer, has expired or is revoked. Reads the store only for
   * a foreign token that is not cached, and for an unknown key. Throws UNAVAILABLE if the keys of its issuer cannot be read.
   */
  async verify(token: string): Promise<TokenSubject | null> {
    const { foreign } = this.#options
    const known = this.#verified.get(token) ?? foreign?.cached(token)
    if (known !== undefined) return this.#accepted(known)
    return (await this.verifyOurs(token)) ?? foreign?.verify(token) ?? null
  }

  /** Does what `verify` does, but returns null for a foreign token. Reads the store only for a key that this node does not know. */
  async verifyOurs(token: string): Promise<TokenSubject | null> {
    const subject = this.#verified.get(token) ?? (await this.#checkNew(token))
    return subject === null ? null : this.#accepted(subject)
  }

  /** Null if it is not valid now. A token from before a rotation is recorded: it may be a copy, or another tab still has it. */
  #accepted(subject: TokenSubject): TokenSubject | null {
    if (this.validUntil(subject) !== null) return subject
    this.#options.revocations.noteOutdated(subject)
    return null
  }

  /** When a verified token expires, in milliseconds; null if it has expired or is revoked. */
  validUntil(subject: TokenSubject): number | null {
    const { revocations, keys, now } = this.#options
    if (now() >= subject.expiresAt || revocations.isRevoked(subject)) return null
    return subject.kid !== undefined && keys.isDropped(subject.kid) ? null : subject.expiresAt
  }

  /** Revokes every token of this sign-in, renewed ones included. With `source`, it is a sign-out for the audit log. */
  async revoke({ userId, username, signInId }: TokenSubject, source?: Source): Promise<void> {
    const at = this.#options.now()
    const signOut = { event: 'sign-out', at, userId, username, signInId, detail: { variant: 'stateless' } } as const
    const audit = source && [auditEntry(source, signOut)]
    await this.#options.revocations.revoke({ userId, signInId, audit })
  }

  /**
   * `user` is the user's current row, whose generation the new token gets. Throws UNAUTHORIZED if the sign-in is too old, or if the row has
   * another generation and the revocation that raised it did not spare the sign-in: this node may not have received that revocation, or a
   * backup was restored. Throws FORBIDDEN for a token of a session: a renewed one would outlive the session.
   */
  async renew(subject: TokenSubject, user: Current): Promise<IssuedToken> {
    if (subject.isOfSession)
      throw insufficientScope('The token of a session is not renewed', {
        remedy: 'Request another one with the session: POST /api/me/token.',
      })
    return this.#sign(await this.#renewable(subject, user), this.#endOf(subject))
  }

  /**
   * The first token after a rotation. Throws as `renew`: if the user's generation was raised, the sign-in must have been spared. Otherwise it
   * has ended meanwhile, and the token would revive it. `confirmedAt`: null if the sign-in is as fresh as before.
   */
  async rotated(subject: TokenSubject, user: Current, confirmedAt: number | null): Promise<IssuedToken> {
    const { signInGeneration = 0, ...renewable } = await this.#renewable(subject, user)
    const rotated = { ...renewable, signInGeneration: signInGeneration + 1 }
    return this.#sign({ ...rotated, confirmedAt: confirmedAt ?? subject.confirmedAt }, this.#endOf(subject))
  }

  async #renewable(subject: TokenSubject, { credentialGeneration: generation }: Current): Promise<TokenSubject> {
    const { now, chainMs, revocations } = this.#options
    const { generation: known } = subject
    if (now() >= subject.signedInAt + chainMs) throw notAuthenticated()
    const isOf = known === generation || (known < generation && (await revocations.isExcepted(subject, generation)))
    if (!isOf) throw notAuthenticated()
    return { ...subject, generation }
  }

  #endOf({ signedInAt }: SignIn): number {
    return Math.min(this.#options.now() + this.#options.lifetimeMs, signedInAt + this.#options.chainMs)
  }

  /** The first use of the token needs no check of its signature. */
  #sign(claimed: Claimed, endsAt: number): IssuedToken {
    const { now, issuer, keys } = this.#options
    const at = now()
    const claims = claimsOf(claimed, { issuer: issuer(), at, endsAt: Math.min(endsAt, at + maxTokenLifeMs) })
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
      // An earlier check in the queue may have had the same token.
      const known = this.#verified.get(token)
      if (known !== undefined || this.#refused.get(token)) return known ?? null
      const { claims, kid, signed, signature } = read
      if (await isSigned({ key, signed, signature })) return this.#remember(token, subjectOf(claims, kid))
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
    ...(claims.scope !== undefined && { scope: claims.scope, issuedGeneration: claims.ign as number }),
  }
}
