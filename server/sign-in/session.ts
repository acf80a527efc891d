// Variant 1, stateful: the server keeps a session, the caller carries its secret in a cookie. Issue, verify, revoke:
// the same verbs in the same order as access-token.ts, so that the two can be read side by side.
import { hash, randomBytes } from 'node:crypto'
import { CarillonError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { CheckedUser } from './credentials.ts'
import type { Subject } from './subject.ts'

const touchEveryMs = 60_000
/** 32 bytes as base64url. */
const secretShape = /^[\w-]{43}$/

type SessionStore = Pick<Store, 'addSession' | 'findSession' | 'touchSession' | 'endSession' | 'removeStaleSessions'>
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
   * A new session under a new secret; the one that `replaces` names ends. Throws INVALID_CREDENTIALS where the user
   * was disabled or changed the password while the old one was being checked.
   */
  async issue(user: CheckedUser, replaces: string | null): Promise<{ secret: string; expiresAt: number }> {
    const { store, now, lifetimeMs } = this.#options
    const secret = randomBytes(32).toString('base64url')
    const at = now()
    const outcome = await store.addSession({
      secretHash: hashOf(secret),
      userId: user.id,
      checkedPasswordHash: user.passwordHash,
      at,
      replaces: replaces === null ? null : hashOf(replaces),
    })
    if (outcome === 'refused') throw new CarillonError('INVALID_CREDENTIALS', 'The username or the password is wrong')
    return { secret, expiresAt: at + lifetimeMs }
  }

  /** Whose session it is, or null where there is none that lives. */
  async verify(secret: string): Promise<Subject | null> {
    if (!secretShape.test(secret)) return null
    const { store, now, idleMs, lifetimeMs } = this.#options
    const secretHash = hashOf(secret)
    const session = await store.findSession(secretHash)
    if (session === undefined) return null
    const at = now()
    const expiresAt = session.createdAt + lifetimeMs
    if (at >= expiresAt || at >= session.lastSeenAt + idleMs) return null
    if (at >= session.lastSeenAt + touchEveryMs) this.#touch(secretHash, at)
    return { userId: session.userId, username: session.username, proof: 'session', expiresAt, inbox: session.inbox }
  }

  /** Ends the session on the server. One that is not there has ended already. */
  async revoke(secret: string): Promise<void> {
    if (secretShape.test(secret)) await this.#options.store.endSession(hashOf(secret))
  }

  /** Forgets what no longer lives; without it the table would only grow. */
  async removeStale(): Promise<void> {
    const { store, now, idleMs, lifetimeMs } = this.#options
    await store.removeStaleSessions({ createdBefore: now() - lifetimeMs, lastSeenBefore: now() - idleMs })
  }

  /** Nobody waits for it, and a failure costs nothing but an idle timeout that comes a minute early. */
  #touch(secretHash: string, at: number): void {
    if (this.#touching.has(secretHash)) return
    this.#touching.add(secretHash)
    const done = () => this.#touching.delete(secretHash)
    this.#options.store.touchSession({ secretHash, at }).then(done, done)
  }
}

/** Only this is kept: whoever reads the database holds no secret. */
function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url')
}
