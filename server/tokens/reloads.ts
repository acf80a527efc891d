// Reads something again after change signals: at once, but on a busy service at most a tenth of the time is spent on it, and again
// after a failure until it succeeds.

const shortReloadMs = 2
const retryMs = 1_000

export class Reloads {
  readonly #reload: () => Promise<void>
  readonly #onFailure: (error: unknown) => void
  #isReloading = false
  #isDue = false

  constructor(reload: () => Promise<void>, onFailure: (error: unknown) => void) {
    this.#reload = reload
    this.#onFailure = onFailure
  }

  soon(): void {
    this.#isDue = true
    if (this.#isReloading) return
    this.#isReloading = true
    this.#isDue = false
    const startedAt = performance.now()
    const next = () => {
      this.#isReloading = false
      if (this.#isDue) this.soon()
    }
    this.#reload().then(
      () => {
        const tookMs = performance.now() - startedAt
        if (tookMs < shortReloadMs) next()
        else setTimeout(next, tookMs * 9).unref()
      },
      (error: unknown) => {
        this.#onFailure(error)
        this.#isDue = true
        setTimeout(next, retryMs).unref()
      },
    )
  }
}
