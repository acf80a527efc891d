// Which tokens are revoked before they expire: a small table, whole in memory, so that a check costs no read. Loaded at
// start and again whenever the store rings; only ever added to, since an entry outlives every token that it revokes.
import type { Store, TokenRevocation } from '../../store/store.ts'

type Parts = {
  store: Pick<Store, 'revokeTokens' | 'tokenRevocations' | 'onChange'>
  /** The time, which never goes back, and the wall clock, by which other processes wrote their rows. */
  now: () => number
  wall: () => number
  /** An entry stays this long after it was first heard of: until no token that it revokes is alive by `now`. */
  keepMs: number
}

/** What a token says about its sign-in. `generation` is missing in tokens that were issued before there was one. */
export type SignIn = { userId: string; signInId: string; signedInAt: number; generation: number | undefined }

const shortReloadMs = 2
const retryMs = 1_000

export class TokenRevocations {
  readonly #dependencies: Parts
  readonly #revocations = new Map<string, TokenRevocation>()
  readonly #listeners = new Set<(userId: string) => void>()
  #isReloading = false
  #isRung = false

  private constructor(parts: Parts) {
    this.#dependencies = parts
  }

  static async load(parts: Parts, onFailure: (error: unknown) => void): Promise<TokenRevocations> {
    const revocations = new TokenRevocations(parts)
    await revocations.#reload()
    parts.store.onChange((ring) => {
      if (ring.about === 'token-revocation' || ring.about === 'anything') revocations.#reloadSoon(onFailure)
    })
    return revocations
  }

  /** At once, but for a table so long that reading it again and again would be all that is done. */
  #reloadSoon(onFailure: (error: unknown) => void): void {
    this.#isRung = true
    if (this.#isReloading) return
    this.#isReloading = true
    this.#isRung = false
    const startedAt = performance.now()
    const next = () => {
      this.#isReloading = false
      if (this.#isRung) this.#reloadSoon(onFailure)
    }
    this.#reload().then(
      () => {
        const tookMs = performance.now() - startedAt
        if (tookMs < shortReloadMs) next()
        else setTimeout(next, tookMs * 9).unref()
      },
      (error: unknown) => {
        onFailure(error)
        this.#isRung = true
        setTimeout(next, retryMs).unref()
      },
    )
  }

  /** In force here when it resolves, and on the disk; on other nodes when the ring reaches them. */
  async cut(revocation: Omit<TokenRevocation, 'firstGeneration'>): Promise<void> {
    await this.#dependencies.store.revokeTokens(revocation)
    this.#add({ ...revocation, firstGeneration: 0 })
  }

  /** Calls `listener` whenever tokens of a user are cut from now on, wherever that was done. */
  onRevocation(listener: (userId: string) => void): void {
    this.#listeners.add(listener)
  }

  /** No clock decides about a token that carries its generation; a sign-out compares the id of the sign-in only. */
  isCut({ userId, signInId, signedInAt, generation }: SignIn): boolean {
    if (this.#revocations.size === 0) return false
    if (this.#revocations.has(keyOf(userId, signInId))) return true
    const everySignIn = this.#revocations.get(keyOf(userId, null))
    if (everySignIn === undefined) return false
    return generation === undefined ? signedInAt <= everySignIn.notBefore : generation < everySignIn.firstGeneration
  }

  async #reload(): Promise<void> {
    const { store, now, wall } = this.#dependencies
    // After the wall clock was set back, another process that writes a row counts its time from there.
    for (const revocation of await store.tokenRevocations(Math.min(now(), wall()))) this.#add(revocation)
    const at = now()
    for (const [key, { expiresAt }] of this.#revocations) if (expiresAt <= at) this.#revocations.delete(key)
  }

  #add(revocation: TokenRevocation): void {
    const key = keyOf(revocation.userId, revocation.signInId)
    const known = this.#revocations.get(key)
    const firstGeneration = Math.max(revocation.firstGeneration, known?.firstGeneration ?? 0)
    const notBefore = Math.max(revocation.notBefore, known?.notBefore ?? revocation.notBefore)
    if (known?.firstGeneration === firstGeneration && known.notBefore === notBefore) return
    const expiresAt = Math.max(revocation.expiresAt, this.#dependencies.now() + this.#dependencies.keepMs)
    this.#revocations.set(key, { ...revocation, firstGeneration, notBefore, expiresAt })
    for (const listener of this.#listeners) listener(revocation.userId)
  }
}

function keyOf(userId: string, signInId: string | null): string {
  return `${userId} ${signInId ?? ''}`
}
