// What does `subscribe()` open? In a page the stream that all tabs of this sign-in share, elsewhere one of its own.
import { type Backoff, delayAfter } from '../transport/backoff.ts'
import { pause, within } from '../transport/cancellation.ts'
import { networkError } from '../transport/errors.ts'
import type { Requests } from '../transport/requests.ts'
import type { Me, StreamEvent } from '../transport/types.ts'
import { isFinal, openStream, type StreamOptions, type Timing, usual } from './subscription.ts'
import { oneForAllTabs, type SharedInbox } from './tabs.ts'

export function openSharedStream(
  requests: Requests,
  options: StreamOptions = {},
  timing: Timing = usual,
  silenceMs?: number,
): AsyncIterableIterator<StreamEvent> {
  const backoff = { baseMs: timing.retryMs, capMs: timing.maxRetryMs, random: timing.random }
  return oneForAllTabs({
    ...options,
    silenceMs,
    backoff,
    inbox: (signal) => inboxOf(requests, { signal, backoff, patienceMs: timing.connectMs }),
    open: (from, onLife) => openStream(requests, from, timing, onLife),
  })
}

type Asking = { signal: AbortSignal; backoff: Backoff; patienceMs: number }

/** As the server knows him: a cookie says nothing to a script, and another sign-in replaces it for all tabs. */
async function inboxOf(requests: Requests, { signal, backoff, patienceMs }: Asking): Promise<SharedInbox> {
  const late = networkError('It took too long')
  for (let failures = 0; ; failures++) {
    try {
      const { user, proof } = await within({ ms: patienceMs, signal, late }, ({ signal: own }) =>
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
