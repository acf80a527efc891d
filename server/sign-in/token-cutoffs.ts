// Which tokens are cut before they expire: a small table, whole in memory, so that a check costs no read. Loaded at
// start and again whenever the store rings; only ever added to, since an entry outlives every token that it cuts.
import type { Store, TokenCutoff } from '../store/store.ts'

type Parts = { store: Pick<Store, 'cutTokens' | 'tokenCutoffs' | 'onRing'>; now: () => number }

const shortReloadMs = 2
const retryMs = 1_000

export class TokenCutoffs {
  readonly #parts: Parts
  readonly #cutoffs = new Map<string, TokenCutoff>()
  readonly #listeners = new Set<(userId: string) => void>()
  #isReloading = false
  #isRung = false

  private constructor(parts: Parts) {
    this.#parts = parts
  }

  static async load(parts: Parts, onFailure: (error: unknown) => void): Promise<TokenCutoffs> {
    const cutoffs = new TokenCutoffs(parts)
    await cutoffs.#reload()
    parts.store.onRing((ring) => {
      if (ring.about === 'token-cutoff' || ring.about === 'anything') cutoffs.#reloadSoon(onFailure)
    })
    return cutoffs
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
  async cut(cutoff: TokenCutoff): Promise<void> {
    await this.#parts.store.cutTokens(cutoff)
    this.#add(cutoff)
  }

  /** Calls `listener` whenever tokens of a user are cut from now on, wherever that was done. */
  onCut(listener: (userId: string) => void): void {
    this.#listeners.add(listener)
  }

  isCut(signIn: { userId: string; signInId: string; signedInAt: number }): boolean {
    if (this.#cutoffs.size === 0) return false
    if (this.#cutoffs.has(keyOf(signIn.userId, signIn.signInId))) return true
    const everySignIn = this.#cutoffs.get(keyOf(signIn.userId, null))
    return everySignIn !== undefined && signIn.signedInAt <= everySignIn.notBefore
  }

  async #reload(): Promise<void> {
    const now = this.#parts.now()
    for (const cutoff of await this.#parts.store.tokenCutoffs(now)) this.#add(cutoff)
    for (const [key, { expiresAt }] of this.#cutoffs) if (expiresAt <= now) this.#cutoffs.delete(key)
  }

  #add(cutoff: TokenCutoff): void {
    const key = keyOf(cutoff.userId, cutoff.signInId)
    const known = this.#cutoffs.get(key)
    if (known !== undefined && known.notBefore >= cutoff.notBefore) return
    this.#cutoffs.set(key, cutoff)
    for (const listener of this.#listeners) listener(cutoff.userId)
  }
}

function keyOf(userId: string, signInId: string | null): string {
  return `${userId} ${signInId ?? ''}`
}
