// Loads a part of the elements on demand, and tries again until it is there.

/** Milliseconds before the second retry; each later pause is longer by this. */
const retryMs = 5_000

/**
 * Chromium keeps the failure of an import until the page is loaded again. So a retry adds a query
 * to the address, which Chromium's message contains.
 */
export async function retriedImport<Module>(
  load: () => Promise<Module>,
  onFailure?: () => void,
): Promise<Module> {
  let next = load
  for (let attempt = 0; ; attempt++)
    try {
      return await next()
    } catch (error) {
      onFailure?.()
      await new Promise((resolve) => setTimeout(resolve, retryMs * attempt))
      const [address] = /https?:[^\s?]+/.exec(String(error)) ?? []
      next = address
        ? () => import(/* webpackIgnore: true */ /* @vite-ignore */ `${address}?${attempt}`)
        : load
    }
}
