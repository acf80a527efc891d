// Which tokens are revoked before they expire: a small table, whole in memory, so that a check costs no read. Loaded at
// start and again whenever the store rings; only ever added to, since an entry outlives every token that it revokes.
import type { Store, TokenCutoff } from '../../store/store.ts'

type Parts = {
  store: Pick<Store, 'cutTokens' | 'tokenCutoffs' | 'onRing'>
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
  async cut(cutoff: Omit<TokenCutoff, 'firstGeneration'>): Promise<void> {
    await this.#parts.store.cutTokens(cutoff)
    this.#add({ ...cutoff, firstGeneration: 0 })
  }

  /** Calls `listener` whenever tokens of a user are cut from now on, wherever that was done. */
  onCut(listener: (userId: string) => void): void {
    this.#listeners.add(listener)
  }

  /** No clock decides about a token that carries its generation; a sign-out compares the id of the sign-in only. */
  isCut({ userId, signInId, signedInAt, generation }: SignIn): boolean {
    if (this.#cutoffs.size === 0) return false
    if (this.#cutoffs.has(keyOf(userId, signInId))) return true
    const everySignIn = this.#cutoffs.get(keyOf(userId, null))
    if (everySignIn === undefined) return false
    return generation === undefined ? signedInAt <= everySignIn.notBefore : generation < everySignIn.firstGeneration
  }

  async #reload(): Promise<void> {
    const { store, now, wall } = this.#parts
    // After the wall clock was set back, another process that writes a row counts its time from there.
    for (const cutoff of await store.tokenCutoffs(Math.min(now(), wall()))) this.#add(cutoff)
    const at = now()
    for (const [key, { expiresAt }] of this.#cutoffs) if (expiresAt <= at) this.#cutoffs.delete(key)
  }

  #add(cutoff: TokenCutoff): void {
    const key = keyOf(cutoff.userId, cutoff.signInId)
    const known = this.#cutoffs.get(key)
    const firstGeneration = Math.max(cutoff.firstGeneration, known?.firstGeneration ?? 0)
    const notBefore = Math.max(cutoff.notBefore, known?.notBefore ?? cutoff.notBefore)
    if (known?.firstGeneration === firstGeneration && known.notBefore === notBefore) return
    const expiresAt = Math.max(cutoff.expiresAt, this.#parts.now() + this.#parts.keepMs)
    this.#cutoffs.set(key, { ...cutoff, firstGeneration, notBefore, expiresAt })
    for (const listener of this.#listeners) listener(cutoff.userId)
  }
}

function keyOf(userId: string, signInId: string | null): string {
  return `${userId} ${signInId ?? ''}`
}
