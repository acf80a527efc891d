// Bounds the space in which V8 creates objects: V8 would let it grow to 64 MB under load, and keep that (decision 0057).
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Bytes of both halves. With 2 MB, objects of 64 concurrent requests survive a collection; with 16 MB, a collection takes longer. */
const enough = 8 * 2 ** 20

/** Call it after the start. V8 has no bound that can be set while it runs, but a factor by which the space grows. */
export function boundNewSpace(): void {
  // To collect so little on several threads costs more than it saves.
  setFlagsFromString('--no-parallel-scavenge')
  const collections = new PerformanceObserver(() => {
    if (newSpaceBytes() < enough) return
    setFlagsFromString('--semi-space-growth-factor=1')
    collections.disconnect()
  })
  collections.observe({ entryTypes: ['gc'] })
}

export function newSpaceBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}
