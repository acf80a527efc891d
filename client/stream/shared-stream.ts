// One stream for all tabs of a browser, which over HTTP/1.1 has only six connections to a server.
import { leavable, unlessAborted } from '../transport/cancellation.ts'
import type { Requests } from '../transport/requests.ts'
import type { StreamEvent } from '../transport/types.ts'
import { clientFunctions } from './client-functions.ts'
import {
  defaultTiming,
  openStream,
  type StreamOptions,
  type StreamWatcher,
  type Timing,
} from './subscription.ts'

/** Undefined outside a page, without channels, and with storage forbidden. */
export function channelOf(requests: Requests, purpose: string): BroadcastChannel | undefined {
  try {
    return globalThis.document && new BroadcastChannel(`carillon ${purpose} ${requests.base}`)
  } catch {
    return undefined
  }
}

/**
 * Outside a page, or without Web Locks, BroadcastChannel or the code of the tabs, each tab has its
 * own stream.
 */
export function openSharedStream(
  requests: Requests,
  options: StreamOptions = {},
  timing: Timing = defaultTiming,
  silenceMs = 30_000,
  watcher: StreamWatcher = {},
): AsyncIterableIterator<StreamEvent> {
  const channel = channelOf(requests, 'trial')
  channel?.close()
  if (!channel || !navigator.locks) return openStream(requests, options, timing, watcher)
  return leavable([options.signal, requests.session.signal], async function* (signal) {
    const loading = import('./tabs/together.ts').catch(() => undefined)
    const tabs = await unlessAborted(loading, signal)
    const { since } = options
    if (tabs)
      yield* tabs.openTogether(
        { requests, timing, silenceMs, watcher, functions: clientFunctions },
        since,
        signal,
      )
    else yield* openStream(requests, { since, signal }, timing, watcher)
  })
}
