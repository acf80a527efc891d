// Variant 1, stateful: the server keeps a session, the caller carries its secret in a cookie. Issue, verify, revoke:
// the same verbs in the same order as access-token.ts, so that the two can be read side by side.
import { hash, randomBytes } from 'node:crypto'
import { CarillonError } from '../errors.ts'
import type { EndedSession, SessionKey, Store } from '../store/store.ts'
import type { CheckedUser } from './password/credentials.ts'
import type { PageOf, Subject } from './subject.ts'

/** A use is noted once a minute, and oftener where the idle timeout is so short that a minute counts. */
const touchEveryMs = (idleMs: number) => Math.min(60_000, idleMs / 20)
const pauseAfterFailureMs = 10_000
/**
 * A session that another node made or used may be ahead by this much. One that is further ahead was used before the clock was
 * set back and this process started: nobody knows how old it is, so it has ended.
 */
const clockLeewayMs = 60_000
/**
 * What the cookie holds: whose session it is, which is no secret but says where to look, and 32 random bytes as
 * base64url.
 */
const cookieShape = /^([0-9a-f-]{36})\.[\w-]{43}$/

type SessionStore = Pick<Store, 'addSession' | 'findSession' | 'touchSession' | 'endSessions' | 'removeStaleSessions'>
type SessionOptions = {
  store: SessionStore
  now: () => number
  /** A session ends when it is not used for so long, in milliseconds. */
  idleMs: number
  /** A session ends so long after the sign-in, in milliseconds, however much it is used. */
  lifetimeMs: number
}

export class Sessions {
  readonly #options: SessionOptions
  readonly #touching = new Set<string>()

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /**
   * A new session under a new secret; those under the secrets in `replaces` end with it. Throws INVALID_CREDENTIALS where the user
   * was disabled or changed the password while the old one was being checked.
   */
  async issue(user: CheckedUser, replaces: readonly string[]): Promise<{ secret: string; expiresAt: number }> {
    const { store, now, lifetimeMs } = this.#options
    const secret = `${user.id}.${randomBytes(32).toString('base64url')}`
    const at = now()
    const outcome = await store.addSession({
      userId: user.id,
      secretHash: hashOf(secret),
      checkedPasswordHash: user.passwordHash,
      at,
      replaces: keysOf(replaces),
    })
    if (outcome === 'refused') throw new CarillonError('INVALID_CREDENTIALS', 'The username or the password is wrong')
    return { secret, expiresAt: at + lifetimeMs }
  }

  /**
   * Whose session it is, or null where there is none that lives. The page that `pageOf` names is read in the same call of
   * the store, which on PostgreSQL is one round trip.
   */
  async verify(secret: string, pageOf?: PageOf): Promise<Subject | null> {
    const key = keyOf(secret)
    if (key === null) return null
    const { store, now, idleMs, lifetimeMs } = this.#options
    const request = pageOf?.(key.userId)
    const session = await store.findSession(key, request)
    if (session === undefined) return null
    const at = now()
    if (at >= this.#endOf(session, at)) return null
    const expiresAt = session.createdAt + lifetimeMs
    if (at >= session.lastSeenAt + touchEveryMs(idleMs)) this.#touch(key, at)
    const { userId, username, inbox, page } = session
    const subject: Subject = { userId, username, proof: 'session', expiresAt, inbox }
    if (request !== undefined && page !== undefined) subject.read = { request, page }
    return subject
  }

  /** Until when a session lives unless it is used, in milliseconds; null where it has ended. Asking is no use. */
  async validUntil(secret: string): Promise<number | null> {
    const key = keyOf(secret)
    const { store, now } = this.#options
    const session = key === null ? undefined : await store.findSession(key)
    if (session === undefined) return null
    const at = now()
    const endsAt = this.#endOf(session, at)
    return at >= endsAt ? null : endsAt
  }

  /** Ends the sessions under these secrets, in one step. Answers whose they were; one that was not alive has no owner. */
  async revoke(secrets: readonly string[]): Promise<{ userId: string; username: string }[]> {
    const keys = keysOf(secrets)
    const { store, now } = this.#options
    const ended = keys.length === 0 ? [] : await store.endSessions(keys)
    const at = now()
    return ended.filter((session) => at < this.#endOf(session, at))
  }

  /** Forgets what no longer lives; without it the table would only grow. */
  async removeStale(): Promise<void> {
    const { store, now, idleMs, lifetimeMs } = this.#options
    const at = now()
    await store.removeStaleSessions({
      createdBefore: at - lifetimeMs,
      lastSeenBefore: at - idleMs,
      lastSeenAfter: at + clockLeewayMs,
    })
  }

  #endOf({ createdAt, lastSeenAt }: EndedSession, at: number): number {
    if (lastSeenAt > at + clockLeewayMs) return Number.NEGATIVE_INFINITY
    return Math.min(createdAt + this.#options.lifetimeMs, lastSeenAt + this.#options.idleMs)
  }

  /**
   * Nobody waits for it, and a failure costs nothing but an idle timeout that comes a little early. It is not tried again
   * with every request: a store that takes no writes, because it is moved for instance, goes on being read.
   */
  #touch(key: SessionKey, at: number): void {
    if (this.#touching.has(key.secretHash)) return
    this.#touching.add(key.secretHash)
    const done = () => this.#touching.delete(key.secretHash)
    this.#options.store.touchSession({ ...key, at }).then(done, () => setTimeout(done, pauseAfterFailureMs).unref())
  }
}

/** Where the session of a cookie is kept, or null for what is no cookie of ours. */
function keyOf(secret: string): SessionKey | null {
  const userId = cookieShape.exec(secret)?.[1]
  return userId === undefined ? null : { userId, secretHash: hashOf(secret) }
}

function keysOf(secrets: readonly string[]): SessionKey[] {
  return secrets.map(keyOf).filter((key) => key !== null)
}

/** Only this is kept: whoever reads the database holds no secret. */
function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url')
}
