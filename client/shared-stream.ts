// What does `subscribe()` open? In a page the stream that all tabs of this sign-in share, elsewhere one of its own.
import { delayAfter } from './backoff.ts'
import { pause } from './cancellation.ts'
import type { Requests } from './requests.ts'
import { isFinal, openStream, type StreamOptions, type Timing, usual } from './subscription.ts'
import { oneForAllTabs } from './tabs.ts'
import type { Me, StreamEvent } from './types.ts'

export function openSharedStream(
  requests: Requests,
  options: StreamOptions = {},
  timing: Timing = usual,
  silenceMs?: number,
): AsyncIterableIterator<StreamEvent> {
  return oneForAllTabs({
    ...options,
    silenceMs,
    name: (signal) => ownerOf(requests, signal, timing),
    open: (from, onLife) => openStream(requests, from, timing, onLife),
  })
}

/** As the server knows him: a cookie says nothing to a script, and another sign-in replaces it for all tabs. */
async function ownerOf(requests: Requests, signal: AbortSignal, timing: Timing): Promise<string> {
  for (let failures = 0; ; failures++) {
    const patience = AbortSignal.timeout(timing.connectMs)
    try {
      const { user } = await requests.data<Me>({ path: 'api/me', signal: AbortSignal.any([signal, patience]) })
      return `${requests.base} ${user.id}`
    } catch (error) {
      signal.throwIfAborted()
      if (!patience.aborted && isFinal(error)) throw error
      const backoff = { baseMs: timing.retryMs, capMs: timing.maxRetryMs, random: timing.random }
      await pause(delayAfter(error, failures, backoff), signal)
    }
  }
}
