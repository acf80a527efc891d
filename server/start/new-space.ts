// Bounds the space for new objects: V8 would let it grow to 64 MB under load, and keep that
// (decision 0057).
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** With 2 MB, objects of 64 requests survive a collection; 16 MB takes longer. */
const enough = 8 * 2 ** 20

/** V8 has no bound at run time, but a factor of growth. */
export function boundNewSpace(): void {
  // Threads cost more than they save here.
  setFlagsFromString('--no-parallel-scavenge')
  const collections = new PerformanceObserver(() => {
    if (newSpaceBytes() < enough) return
    setFlagsFromString('--semi-space-growth-factor=1')
    collections.disconnect()
  })
  collections.observe({ entryTypes: ['gc'] })
}

export function newSpaceBytes(): number {
  return (
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
  )
}
