// How the abort of a caller's signal, which may live as long as the page, reaches the work in progress. Each call gets an
// AbortController, because some runtimes' fetch keeps its listeners on a signal until garbage collection. `AbortSignal.any`
// and `AbortSignal.timeout` are missing in some browsers that can share a stream.
import { networkError } from './errors.ts'

export type Signals = readonly (AbortSignal | undefined)[]

/** Runs `work` with a controller that follows `signals`, aborts with `NETWORK` after `timeoutMs`, and aborts at the end. */
export async function following<Result>(
  signals: Signals,
  work: (own: AbortController) => Promise<Result>,
  timeoutMs?: number,
): Promise<Result> {
  const own = new AbortController()
  follow(signals, own)
  const abort = () => own.abort(networkError(new Error(`No response within ${timeoutMs} ms`)))
  const timer = timeoutMs && setTimeout(abort, timeoutMs)
  try {
    own.signal.throwIfAborted()
    return await work(own)
  } finally {
    clearTimeout(timer)
    own.abort()
  }
}

/** Aborts `own` when one of `signals` aborts. The caller aborts `own` at the end, which removes the listeners of the signals. */
export function follow(signals: Signals, own: AbortController): void {
  for (const signal of signals) {
    const abort = () => own.abort(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, own)
  }
}

/** Settles like `promise`, or rejects with the reason of `signal` as soon as `signal` aborts. */
export function unlessAborted<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    void promise.then(resolve, reject).then(() => signal?.removeEventListener('abort', abort))
  })
}

/** Waits `ms` milliseconds. `onStart` receives a function that ends the wait early. Throws the reason of `signal`. */
export function pause(ms: number, signal?: AbortSignal, onStart = (_end: () => void) => {}): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
    onStart(resolve)
  })
  return unlessAborted(over, signal).finally(() => clearTimeout(timer))
}

/**
 * The iterator of a `for await` loop over `events`, whose signal aborts when one of `signals` does and when the loop is left. A
 * generator alone would delay `return()`, which a `break` calls, until a pending `next()` settles.
 */
export function leavable<Event>(
  signals: Signals,
  events: (signal: AbortSignal) => AsyncGenerator<Event, void>,
): AsyncIterableIterator<Event> {
  const end = new AbortController()
  let hasLeft = false
  async function* run() {
    follow(signals, end)
    try {
      yield* events(end.signal)
    } catch (error) {
      if (!hasLeft) throw error
    } finally {
      end.abort()
    }
  }
  const running = run()
  const finish = running.return.bind(running)
  running.return = (value) => {
    hasLeft = true
    end.abort()
    return finish(value)
  }
  return running
}
