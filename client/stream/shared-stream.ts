// Opens the stream of `subscribe()`: in a page one stream for all tabs of the user, elsewhere a stream of its own.
import { type Backoff, delayAfter } from '../transport/backoff.ts'
import { pause, withTimeout } from '../transport/cancellation.ts'
import { networkError } from '../transport/errors.ts'
import type { Requests } from '../transport/requests.ts'
import type { Me, StreamEvent } from '../transport/types.ts'
import { defaultTiming, isFinal, openStream, type StreamOptions, type Timing } from './subscription.ts'
import type { SharedInbox } from './tabs/tab-group.ts'
import { shareAmongTabs } from './tabs/tabs.ts'

export function openSharedStream(
  requests: Requests,
  options: StreamOptions = {},
  timing: Timing = defaultTiming,
  silenceMs = 30_000,
): AsyncIterableIterator<StreamEvent> {
  const backoff = { baseMs: timing.retryMs, capMs: timing.maxRetryMs, random: timing.random }
  return shareAmongTabs({
    ...options,
    silenceMs,
    backoff,
    inbox: (signal) => inboxOf(requests, { signal, backoff, timeoutMs: timing.connectMs }),
    open: (from, onData) => openStream(requests, from, timing, onData),
  })
}

/**
 * The inbox, as the server identifies it by the proof. A script cannot read a session cookie, and another sign-in replaces
 * the cookie for all tabs.
 */
async function inboxOf(
  requests: Requests,
  { signal, backoff, timeoutMs }: { signal: AbortSignal; backoff: Backoff; timeoutMs: number },
): Promise<SharedInbox> {
  const timeoutError = networkError(`No response within ${timeoutMs} ms`)
  for (let failures = 0; ; failures++) {
    try {
      const { user, proof } = await withTimeout({ ms: timeoutMs, signal, timeoutError }, ({ signal: own }) =>
        requests.data<Me>({ path: 'api/me', signal: own }),
      )
      return { name: `${proof} ${requests.base} ${user.id}`, isByCookie: proof === 'session' }
    } catch (error) {
      signal.throwIfAborted()
      if (isFinal(error)) throw error
      await pause(delayAfter(error, failures, backoff), signal)
    }
  }
}
