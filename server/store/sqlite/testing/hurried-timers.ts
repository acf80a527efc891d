// For tests: loaded before the program (--import); in the writer thread what is due once a second is due at once, and again
// and again, so that some of it is due at every moment, the end included.
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  const { setInterval: original } = globalThis
  globalThis.setInterval = ((callback: () => void) => original(callback, 1)) as typeof setInterval
}
