// Loaded before the program (--import): in the writer thread a timer of one second fires again and
// again, so that one is due at every moment, including the end.
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  const { setInterval: original } = globalThis
  globalThis.setInterval = ((callback: () => void) => original(callback, 1)) as typeof setInterval
}
