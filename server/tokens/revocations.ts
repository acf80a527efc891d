// Which tokens are revoked? All rows are in memory: a check costs no read. A row goes when it
// revokes no living token.
import type { OfSignIn } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import type { AuditEntry, Audited } from '../store/events.ts'
import { reloader } from '../store/reloads.ts'
import type { Store, WriteOperation } from '../store/store.ts'
import { revocationKeptForMs, type SignIn } from './read-token.ts'
import type { NewRevocation, TokenRevocation } from './tokens.store.ts'
import * as stored from './tokens.store.ts'

type Dependencies = {
  store: Store
  /** Other processes write rows by `wall`. */
  now: () => number
  wall: () => number
  recordOnce: WriteOperation<AuditEntry & OfSignIn, void>
}

type Ended = Pick<NewRevocation, 'userId' | 'signInId'>

export class TokenRevocations {
  readonly #dependencies: Dependencies
  readonly #revocations = new Map<string, TokenRevocation>()
  readonly #erased = new Set<string>()
  readonly #noted = new Set<string>()
  readonly #listeners = new Set<(userId: string) => void>()

  private constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  static async load(
    dependencies: Dependencies,
    onFailure: (error: unknown) => void,
  ): Promise<TokenRevocations> {
    const revocations = new TokenRevocations(dependencies)
    await revocations.refresh()
    const refreshSoon = reloader(() => revocations.refresh(), onFailure)
    dependencies.store.onChange(refreshSoon, ['token-revocation'])
    return revocations
  }

  /** It applies here at once; elsewhere after the change signal. */
  async revoke({ audit, ...ended }: Ended & Audited): Promise<void> {
    const { store, now } = this.#dependencies
    const at = now()
    await store.write(stored.revokeTokens, { ...ended, at, audit })
    this.note(ended)
  }

  note({ userId, signInId }: Ended): void {
    const expiresAt = this.#dependencies.now() + revocationKeptForMs
    this.#add({ userId, signInId, expiresAt, firstGeneration: 0, exceptSignInId: null })
  }

  /** For an erased user the listener gets `erasedKey`. */
  onRevocation(listener: (userId: string) => void): void {
    this.#listeners.add(listener)
  }

  isRevoked(signIn: SignIn): boolean {
    const { userId, signInId, generation, issuedGeneration } = signIn
    if (this.#revocations.size === 0) return false
    if (this.#revocations.has(keyOf(userId, signInId)) || this.#isOutdated(signIn)) return true
    if (issuedGeneration !== undefined) {
      const issued = this.#revocations.get(keyOf(userId, stored.issuedSignIns))
      if (issued !== undefined && issuedGeneration < issued.firstGeneration) return true
    }
    if (this.#erased.size > 0 && this.#erased.has(stored.erasedKey(userId))) return true
    const everySignIn = this.#revocations.get(keyOf(userId, null))
    if (everySignIn === undefined || everySignIn.exceptSignInId === signInId) return false
    return generation < everySignIn.firstGeneration
  }

  #isOutdated({ userId, signInId, signInGeneration = 0 }: SignIn): boolean {
    const rotated = this.#revocations.get(keyOf(userId, stored.rotatedSignIn(signInId)))
    return rotated !== undefined && signInGeneration < rotated.firstGeneration
  }

  noteOutdated(signIn: SignIn): void {
    const { userId, signInId } = signIn
    const key = keyOf(userId, stored.rotatedSignIn(signInId))
    if (
      !this.#isOutdated(signIn) ||
      this.#revocations.has(keyOf(userId, signInId)) ||
      this.#noted.has(key)
    )
      return
    this.#noted.add(key)
    const { store, now, recordOnce } = this.#dependencies
    const facts = { event: 'old-token-presented', at: now(), userId, signInId } as const
    store
      .write(recordOnce, { ...auditEntry(serviceSource, facts), userId, signInId })
      .catch(() => this.#noted.delete(key))
  }

  /** The revocation may have spared the sign-in. */
  async isExcepted({ userId, signInId }: SignIn, generation: number): Promise<boolean> {
    const key = keyOf(userId, null)
    if ((this.#revocations.get(key)?.firstGeneration ?? 0) < generation) await this.refresh()
    const everySignIn = this.#revocations.get(key)
    if (everySignIn === undefined || everySignIn.firstGeneration < generation) return false
    return everySignIn.exceptSignInId === signInId
  }

  /** When it resolves, all that was revoked before the call applies here. */
  async refresh(): Promise<void> {
    const { store, now, wall } = this.#dependencies
    // The wall clock may be set back.
    for (const revocation of await store.read(stored.tokenRevocations, Math.min(now(), wall())))
      this.#add(revocation)
    const at = now()
    for (const [key, { expiresAt, userId }] of this.#revocations)
      if (expiresAt <= at) {
        this.#revocations.delete(key)
        this.#erased.delete(userId)
        this.#noted.delete(key)
      }
  }

  #add(revocation: TokenRevocation): void {
    const key = keyOf(revocation.userId, revocation.signInId)
    const known = this.#revocations.get(key)
    const firstGeneration = Math.max(revocation.firstGeneration, known?.firstGeneration ?? 0)
    const isLatest = known === undefined || revocation.firstGeneration >= known.firstGeneration
    const { exceptSignInId } = isLatest ? revocation : known
    const isSame =
      known?.exceptSignInId === exceptSignInId && known.firstGeneration === firstGeneration
    if (isSame && revocation.expiresAt <= known.expiresAt) return
    const expiresAt = Math.max(revocation.expiresAt, this.#dependencies.now() + revocationKeptForMs)
    this.#revocations.set(key, { ...revocation, firstGeneration, exceptSignInId, expiresAt })
    if (stored.isErasedKey(revocation.userId)) this.#erased.add(revocation.userId)
    for (const listener of this.#listeners) listener(revocation.userId)
  }
}

function keyOf(userId: string, signInId: string | null): string {
  return `${userId} ${signInId ?? ''}`
}
