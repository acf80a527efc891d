// How does a measured process itself fare? What only the process knows: its processor time, its memory and the delay of
// its event loop. It costs nothing while it is not asked.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export type ProbeQuestion = { about: 'usage' | 'memory' | 'kept' | 'watch-delay' | 'delay' }
/** Microseconds of all threads together, and the moment in milliseconds. */
export type Usage = { processorUs: number; at: number }
/**
 * Milliseconds. A timer of 1 ms is what is watched, so a process at rest shows a little more than 1. `ownMax` is the most
 * processor time that the thread itself used from one such timer to the next: what is left of `max` when others had the
 * processor meanwhile.
 */
export type Delay = { p50: number; p99: number; max: number; ownMax: number }

let histogram: ReturnType<typeof monitorEventLoopDelay> | undefined
let watching: NodeJS.Timeout | undefined
let ownMaxUs = 0

export function probe({ about }: ProbeQuestion): Usage | Delay | number | undefined {
  if (about === 'usage') return usage()
  if (about === 'memory') return process.memoryUsage.rss()
  if (about === 'kept') return kept()
  if (about === 'delay') return delay()
  histogram = monitorEventLoopDelay({ resolution: 1 })
  histogram.enable()
  watching = watchOwn()
  return undefined
}

function usage(): Usage {
  const { user, system } = process.cpuUsage()
  return { processorUs: user + system, at: performance.now() }
}

function watchOwn(): NodeJS.Timeout {
  ownMaxUs = 0
  let last = process.threadCpuUsage()
  return setInterval(() => {
    const { user, system } = process.threadCpuUsage(last)
    ownMaxUs = Math.max(ownMaxUs, user + system)
    last = process.threadCpuUsage()
  }, 1).unref()
}

/** Bytes that the main thread holds when all that could be let go of is gone. Stops everything for some milliseconds. */
function kept(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function delay(): Delay {
  if (histogram === undefined) throw new Error('nobody asked to watch the delay')
  histogram.disable()
  clearInterval(watching)
  const [p50, p99] = [histogram.percentile(50), histogram.percentile(99)]
  return { p50: p50 / 1e6, p99: p99 / 1e6, max: histogram.max / 1e6, ownMax: ownMaxUs / 1e3 }
}
