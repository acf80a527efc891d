// One stream for all tabs of a browser: over HTTP/1.1 a browser has six connections to a server, for all its tabs together.
import { requestMe } from '../sign-in.ts'
import { delayAfter } from '../transport/backoff.ts'
import { following, leavable, pause, unlessAborted } from '../transport/cancellation.ts'
import { CarillonError, isCarillonError } from '../transport/errors.ts'
import type { Requests } from '../transport/requests.ts'
import type { StreamEvent } from '../transport/types.ts'
import { areOfOneInbox, inboxTagOf, versionOf } from './position.ts'
import {
  defaultTiming,
  isFinal,
  openStream,
  type SharedStreamWatcher,
  type StreamOptions,
  type Timing,
} from './subscription.ts'
import type { ClientFunctions } from './tabs/client-functions.ts'

const functions: ClientFunctions = {
  areOfOneInbox,
  CarillonError,
  delayAfter,
  following,
  inboxTagOf,
  isCarillonError,
  isFinal,
  openStream,
  pause,
  requestMe,
  unlessAborted,
  versionOf,
}

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
    if (tabs) yield* tabs.openTogether({ requests, timing, silenceMs, watcher, functions }, since, signal)
    else yield* openStream(requests, { since, signal }, timing, watcher)
  })
}
