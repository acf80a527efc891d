// What a process reports about itself: its processor time, its memory and the delay of its event loop. It costs nothing until
// a request arrives.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export type ProbeRequest = { about: 'usage' | 'memory' | 'kept' | 'watch-delay' | 'delay' }
/** Processor time of all threads in microseconds, and the time in milliseconds. */
export type Usage = { processorUs: number; at: number }
/**
 * Milliseconds. Measured by a timer of 1 ms, so an idle process shows a little more than 1. `ownMax` is the most processor
 * time that this thread used between two timers; `max` also contains the time in which other programs had the processor.
 */
export type Delay = { p50: number; p99: number; max: number; ownMax: number }

let histogram: ReturnType<typeof monitorEventLoopDelay> | undefined
let watching: NodeJS.Timeout | undefined
let ownMaxUs = 0

export function probe({ about }: ProbeRequest): Usage | Delay | number | undefined {
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

/** Bytes of the heap after a full garbage collection, which blocks the thread for some milliseconds. */
function kept(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function delay(): Delay {
  if (histogram === undefined) throw new Error('the delay is not being watched')
  histogram.disable()
  clearInterval(watching)
  const [p50, p99] = [histogram.percentile(50), histogram.percentile(99)]
  return { p50: p50 / 1e6, p99: p99 / 1e6, max: histogram.max / 1e6, ownMax: ownMaxUs / 1e3 }
}
