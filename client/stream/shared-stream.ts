// One stream for all tabs of a browser: over HTTP/1.1 a browser has six connections to a server, for all its tabs together.
import { leavable, unlessAborted } from '../transport/cancellation.ts'
import type { Requests } from '../transport/requests.ts'
import type { StreamEvent } from '../transport/types.ts'
import { clientFunctions } from './client-functions.ts'
import { defaultTiming, openStream, type SharedStreamWatcher, type StreamOptions, type Timing } from './subscription.ts'

/**
 * Outside a page, without Web Locks and BroadcastChannel, or if the code of the tabs cannot be loaded, each tab has its own
 * stream. Starts and ends like `openStream`.
 */
export function openSharedStream(
  requests: Requests,
  options: StreamOptions = {},
  timing: Timing = defaultTiming,
  silenceMs = 30_000,
  watcher: SharedStreamWatcher = {},
): AsyncIterableIterator<StreamEvent> {
  const { document, navigator, BroadcastChannel } = globalThis
  if (!document || !navigator.locks || !BroadcastChannel) return openStream(requests, options, timing, watcher)
  return leavable([options.signal, requests.session.signal], async function* (signal) {
    const tabs = await unlessAborted(
      import('./tabs/together.ts').catch(() => undefined),
      signal,
    )
    const { since } = options
    if (tabs)
      yield* tabs.openTogether({ requests, timing, silenceMs, watcher, functions: clientFunctions }, since, signal)
    else yield* openStream(requests, { since, signal }, timing, watcher)
  })
}
