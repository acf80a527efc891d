// Reads again after a change signal: at once, for at most a tenth of the time, until it succeeds.
import { setTimeout as sleep } from 'node:timers/promises'

const shortReloadMs = 2
const retryMs = 1_000

/** Calls during a reload cause one more. It never throws. */
export function reloader(
  reload: () => Promise<void>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  let isReloading = false
  let isDue = false
  return async function reloadSoon() {
    isDue = true
    if (isReloading) return
    isReloading = true
    while (isDue) {
      isDue = false
      const startedAt = performance.now()
      try {
        await reload()
        const tookMs = performance.now() - startedAt
        if (tookMs >= shortReloadMs) await sleep(tookMs * 9, undefined, { ref: false })
      } catch (error) {
        onFailure(error)
        isDue = true
        await sleep(retryMs, undefined, { ref: false })
      }
    }
    isReloading = false
  }
}
