// Variant 1, stateful: a cookie has a session's secret. See also access-token.ts.
import { auditEntry, type Source, serviceSource } from '../audit/entry.ts'
import { BoundedCache } from '../basics/bounded-cache.ts'
import { invalidCredentials } from '../basics/errors.ts'
import { hashOf, randomText } from '../basics/secrets.ts'
import type { Subject } from '../http/operation.ts'
import { inBatches } from '../store/batches.ts'
import type { Audited } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import type { FactorPolicy } from '../tokens/factor-policy.ts'
import type { SignIn } from '../tokens/read-token.ts'
import type { TokenRevocations } from '../tokens/revocations.ts'
import type { Rotation } from '../users/access/rotation.store.ts'
import type { User } from '../users/users.store.ts'
import type {
  Familiarity,
  LiveBounds,
  LiveSession,
  NewSession,
  SessionKey,
} from './sessions.store.ts'
import * as stored from './sessions.store.ts'

/** Once a minute, more often for an idle timeout under 20 minutes. */
const touchEveryMs = (idleMs: number) => Math.min(60_000, idleMs / 20)
const pauseAfterFailureMs = 10_000
const maxKeys = 4_096
// Another node's clock may be this much ahead. A later use is from before the clock was set back:
// then the session has ended.
const clockLeewayMs = 60_000
/** A request with the old secret may be on its way. */
const copyGraceMs = 10_000
/** Until then, a stream's client may lack the new cookie. */
const maxCopyMs = 60_000
const copyCheckMs = 1_000
/** The user's id for a cheap look-up, 16 random bytes for the sign-in, 32 for this cookie. */
const cookieShape = /^([0-9a-f-]{36})\.([\w-]{22})\.[\w-]{43}$/

type Detail = Pick<NewSession, 'signInId' | 'device' | 'address' | 'from' | 'factor' | 'audit'> & {
  replaces: readonly string[]
}

type SessionOptions = {
  store: Store
  revocations: Pick<TokenRevocations, 'note'>
  now: () => number
  policy: Pick<FactorPolicy, 'limitedFrom'>
  idleMs: number
  /** Counts from the sign-in, used or not. */
  lifetimeMs: number
  maxPerUser?: number
}

export class Sessions {
  readonly #options: SessionOptions
  readonly #touching = new Set<string>()
  /** Hashing a cookie costs as much as finding its session. */
  readonly #keys = new BoundedCache<SessionKey>(maxKeys)

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** Throws INVALID_CREDENTIALS if the user was disabled or has a new password since. */
  async issue(
    user: Pick<User, 'id' | 'credentialGeneration'>,
    { replaces, ...detail }: Detail,
  ): Promise<{ secret: string; expiresAt: number; familiarity: Familiarity | undefined }> {
    const { store, revocations, now, lifetimeMs, maxPerUser: maxSessions } = this.#options
    const family = randomText(16)
    const secret = newSecretOf(user.id, family)
    const at = now()
    const key = { userId: user.id, familyHash: hashOf(family), secretHash: hashOf(secret) }
    const checkedGeneration = user.credentialGeneration
    const end = { replaces: keysOf(replaces), at }
    const outcome = await store.write(stored.addSession, {
      ...key,
      checkedGeneration,
      ...detail,
      ...end,
      maxSessions,
    })
    if (outcome === 'refused') throw invalidCredentials()
    for (const signIn of outcome.revoked) revocations.note(signIn)
    await this.#endCopied(end.replaces)
    return { secret, expiresAt: at + lifetimeMs, familiarity: outcome.device }
  }

  /** Also reads the inbox's version: one round trip on PostgreSQL. */
  async verify(secret: string): Promise<Subject | null> {
    const known = this.#keys.get(secret)
    const key = known ?? keyOf(secret)
    if (key === null) return null
    const { store, now, policy, idleMs, lifetimeMs } = this.#options
    const session = await store.read(stored.findSession, key)
    if (session === undefined) return null
    if (session.newerHash !== null) {
      await this.#endIfCopied(key, session)
      return null
    }
    if (known === undefined) this.#keys.set(secret, key, 1)
    const at = now()
    if (at >= this.#endOf(session, at)) return null
    const expiresAt = session.createdAt + lifetimeMs
    if (at >= session.lastSeenAt + touchEveryMs(idleMs)) this.#touch(key, at)
    const { userId, username, signInId, confirmedAt, inboxVersion, factor } = session
    const subject = {
      userId,
      username,
      proof: 'session',
      signInId,
      confirmedAt,
      expiresAt,
      inboxVersion,
    } as const
    const isLimited = at >= policy.limitedFrom(session)
    return { ...subject, ...(factor && { factor }), ...(isLimited && { scope: 'setup' }) }
  }

  /** `verify` refuses this cookie, but its browser has or will get the next one. */
  async isJustReplaced(secret: string): Promise<boolean> {
    const session = await this.#find(secret)
    if (!session?.newerHash) return false
    const at = this.#options.now()
    return at < this.#endOfCopy(session, at)
  }

  /**
   * Returns when a long-lived request has to be checked again; null if its proof has ended or only
   * sets a factor up. An older cookie ends ten seconds after the new one's first use, at most a
   * minute after the rotation. `copy` keeps the earliest end, whatever else rotates.
   */
  async validUntil(secret: string, copy: { endsAt: number }): Promise<number | null> {
    const session = await this.#find(secret)
    if (session === undefined) return null
    const { now, policy } = this.#options
    const at = now()
    const limitedFrom = policy.limitedFrom(session)
    if (session.newerHash === null) {
      const endsAt = Math.min(this.#endOf(session, at), limitedFrom)
      return at >= endsAt ? null : endsAt
    }
    copy.endsAt = Math.min(copy.endsAt, limitedFrom, this.#endOfCopy(session, at))
    return at >= copy.endsAt ? null : Math.min(copy.endsAt, at + copyCheckMs)
  }

  async signInOf(secret: string): Promise<(SignIn & { endsAt: number }) | undefined> {
    const key = keyOf(secret)
    if (key === null) return undefined
    const { store, now, idleMs } = this.#options
    const found = await store.write(stored.signInOfSession, key)
    if (found === undefined) return undefined
    const at = now()
    // Unless this use is stored, the token would end with the last stored use.
    const isNoted = at < found.lastSeenAt + touchEveryMs(idleMs)
    if (!isNoted) await store.write(stored.touchSession, { ...key, at })
    const endsAt = this.#endOf(isNoted ? found : { ...found, lastSeenAt: at }, at)
    const {
      signInId,
      createdAt: signedInAt,
      credentialGeneration: generation,
      signInGeneration,
    } = found
    return { userId: key.userId, signInId, signedInAt, generation, signInGeneration, endsAt }
  }

  /** The store then refuses the presented cookie at once. */
  nextSecret(presented: string): { secret: string; session: NonNullable<Rotation['session']> } {
    const { now, idleMs } = this.#options
    const [userId = '', family = ''] = presented.split('.')
    const secret = newSecretOf(userId, family)
    const hashes = {
      familyHash: hashOf(family),
      secretHash: hashOf(presented),
      newHash: hashOf(secret),
    }
    // So the new secret's first use is stored.
    return { secret, session: { ...hashes, lastSeenAt: now() - touchEveryMs(idleMs) } }
  }

  /** In one transaction. With `source`, the audit log has a sign-out. */
  async revoke(secrets: readonly string[], source?: Source): Promise<void> {
    const keys = keysOf(secrets)
    if (keys.length === 0) return
    const at = this.#options.now()
    const signOut = { event: 'sign-out', at, detail: { variant: 'stateful' } } as const
    const audit = source && keys.map(({ userId }) => auditEntry(source, { ...signOut, userId }))
    await this.#end({ keys, at, audit })
    await this.#endCopied(keys)
  }

  async removeStale(): Promise<void> {
    await inBatches(() => this.#options.store.write(stored.removeStaleSessions, this.liveBounds()))
  }

  /** A session outside of these has ended, although the store may have it. */
  liveBounds(): LiveBounds {
    const { now, idleMs, lifetimeMs } = this.#options
    const at = now()
    return {
      createdAfter: at - lifetimeMs,
      lastSeenAfter: at - idleMs,
      lastSeenUntil: at + clockLeewayMs,
    }
  }

  async #endCopied(keys: readonly SessionKey[]): Promise<void> {
    for (const key of keys) {
      const session = await this.#options.store.read(stored.findSession, key)
      if (session !== undefined) await this.#endIfCopied(key, session)
    }
  }

  /**
   * If the present cookie is in use, two clients have copies: the sign-in ends. Before that, a
   * response may be lost.
   */
  async #endIfCopied(key: SessionKey, session: LiveSession): Promise<void> {
    const at = this.#options.now()
    const { userId, signInId, newerHash: secretHash, secretUsedAt } = session
    if (
      secretHash === null ||
      at >= this.#endOf(session, at) ||
      at <= (secretUsedAt ?? at) + copyGraceMs
    )
      return
    const audit = [
      auditEntry(serviceSource, { event: 'old-session-presented', at, userId, signInId }),
    ]
    await this.#end({ keys: [{ ...key, secretHash }], at, audit })
  }

  async #end(end: { keys: readonly SessionKey[]; at: number } & Audited): Promise<void> {
    const { store, revocations } = this.#options
    const change = { ...end, live: this.liveBounds() }
    for (const one of await store.write(stored.endSessions, change))
      if (one.hadTokens) revocations.note(one)
  }

  #endOf(
    { createdAt, lastSeenAt }: Pick<LiveSession, 'createdAt' | 'lastSeenAt'>,
    at: number,
  ): number {
    if (lastSeenAt > at + clockLeewayMs) return Number.NEGATIVE_INFINITY
    return Math.min(createdAt + this.#options.lifetimeMs, lastSeenAt + this.#options.idleMs)
  }

  #endOfCopy(session: LiveSession, at: number): number {
    const rotatedAt = session.rotatedAt ?? at
    const secretUsedAt = session.secretUsedAt ?? at
    return Math.min(this.#endOf(session, at), rotatedAt + maxCopyMs, secretUsedAt + copyGraceMs)
  }

  async #find(secret: string): Promise<LiveSession | undefined> {
    const key = this.#keys.get(secret) ?? keyOf(secret)
    return key === null ? undefined : this.#options.store.read(stored.findSession, key)
  }

  // During a move the store refuses writes: touching pauses after a failure.
  #touch(key: SessionKey, at: number): void {
    if (this.#touching.has(key.secretHash)) return
    this.#touching.add(key.secretHash)
    const done = () => this.#touching.delete(key.secretHash)
    this.#options.store
      .write(stored.touchSession, { ...key, at })
      .then(done, () => setTimeout(done, pauseAfterFailureMs).unref())
  }
}

function newSecretOf(userId: string, family: string): string {
  return `${userId}.${family}.${randomText()}`
}

function keyOf(secret: string): SessionKey | null {
  const [, userId, family] = cookieShape.exec(secret) ?? []
  if (userId === undefined || family === undefined) return null
  return { userId, familyHash: hashOf(family), secretHash: hashOf(secret) }
}

function keysOf(secrets: readonly string[]): SessionKey[] {
  return secrets.map(keyOf).filter((key) => key !== null)
}
