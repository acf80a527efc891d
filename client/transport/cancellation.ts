// How the abort of a caller's signal, which may live as long as the page, reaches work in progress.
// Each call has an AbortController, because some runtimes keep fetch's listeners until garbage
// collection. Some browsers lack `AbortSignal.any` and `timeout`; React Native's signals lack
// `reason` and `throwIfAborted`.
import { networkError } from './errors.ts'

export type Signals = readonly (AbortSignal | undefined)[]

/** A signal has one listener, because Node 20 warns of a leak at the eleventh. */
const waiting = new WeakMap<EventTarget, Set<() => void>>()

function callAll({ target }: Event): void {
  for (const call of waiting.get(target as AbortSignal) ?? []) call()
}

function onAbort(signal: AbortSignal, call: () => void): () => void {
  const calls = waiting.get(signal) ?? new Set()
  waiting.set(signal, calls)
  calls.add(call)
  signal.addEventListener('abort', callAll)
  return () => {
    calls.delete(call)
    if (!calls.size) signal.removeEventListener('abort', callAll)
  }
}

/** All runtimes let listeners read this reason. */
export function abort(own: AbortController, reason: unknown = abortError()): void {
  if (!('reason' in own.signal)) Object.assign(own.signal, { reason })
  own.abort(reason)
}

export function reasonOf(signal: AbortSignal): unknown {
  return signal.reason ?? abortError()
}

function abortError(): Error {
  return Object.assign(new Error('This operation was aborted'), { name: 'AbortError' })
}

export function throwIfAborted(signal?: AbortSignal): void {
  if (signal?.aborted) throw reasonOf(signal)
}

/** Runs `work` with a controller that `signals`, `timeoutMs` and the end of the work abort. */
export async function following<Result>(
  signals: Signals,
  work: (own: AbortController) => Promise<Result>,
  timeoutMs?: number,
): Promise<Result> {
  const own = new AbortController()
  follow(signals, own)
  const giveUp = () => abort(own, networkError(new Error(`No response within ${timeoutMs} ms`)))
  const timer = timeoutMs && setTimeout(giveUp, timeoutMs)
  try {
    throwIfAborted(own.signal)
    return await work(own)
  } finally {
    clearTimeout(timer)
    abort(own)
  }
}

/** At the end the caller aborts `own`, which removes the listeners. */
export function follow(signals: Signals, own: AbortController): void {
  for (const signal of signals) {
    if (!signal) continue
    if (signal.aborted) abort(own, reasonOf(signal))
    else
      onAbort(
        own.signal,
        onAbort(signal, () => abort(own, reasonOf(signal))),
      )
  }
}

export function unlessAborted<Result>(
  promise: Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  let end: (() => void) | undefined
  const first = new Promise<Result>((resolve, reject) => {
    if (signal?.aborted) reject(reasonOf(signal))
    end = signal && onAbort(signal, () => reject(reasonOf(signal)))
    promise.then(resolve, reject)
  })
  return first.finally(end)
}

/** `onStart` gets a function that ends the wait early. */
export function pause(
  ms: number,
  signal?: AbortSignal,
  onStart = (_end: () => void) => {},
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
    onStart(resolve)
  })
  return unlessAborted(over, signal).finally(() => clearTimeout(timer))
}

/** A bare generator would delay `return()`, which a `break` calls, until `next()` settles. */
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
      abort(end)
    }
  }
  const running = run()
  const finish = running.return.bind(running)
  running.return = (value) => {
    hasLeft = true
    abort(end)
    return finish(value)
  }
  return running
}
