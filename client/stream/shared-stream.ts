// One stream for all tabs of a browser: over HTTP/1.1 a browser has six connections to a server, for all its tabs together.
// One tab holds a Web Lock and leads (leader.ts); the others follow (follower.ts) and wait for the lock.
import { requestMe } from '../sign-in.ts'
import { delayAfter } from '../transport/backoff.ts'
import { following, leavable, pause } from '../transport/cancellation.ts'
import { CarillonError } from '../transport/errors.ts'
import type { Requests } from '../transport/requests.ts'
import type { Me, StreamEvent } from '../transport/types.ts'
import {
  defaultTiming,
  isFinal,
  openStream,
  type StreamOptions,
  type StreamWatcher,
  type Timing,
} from './subscription.ts'
import { Follower, leaderIsSilent } from './tabs/follower.ts'
import { Leader } from './tabs/leader.ts'
import { formatVersion, type Tab } from './tabs/messages.ts'
import { inboxTagOf, TabLog } from './tabs/tab-log.ts'

/** If a tab waits longer for the lock, another user may have signed in since the tab requested the name of the inbox. */
const maxNameAgeMs = 1_000

export type SharedStreamWatcher = Pick<StreamWatcher, 'onLost'> & {
  /** Called with the id of the user before this tab joins the tabs of that user. */
  onUser?: (id: string) => void
}

/**
 * Each tab continues from its own position, so a change of leader neither loses nor repeats an event. Outside a page,
 * or without Web Locks and BroadcastChannel, each tab has its own stream. Starts and ends like `openStream`.
 */
export function openSharedStream(
  requests: Requests,
  options: StreamOptions = {},
  timing: Timing = defaultTiming,
  silenceMs = 30_000,
  { onLost, onUser }: SharedStreamWatcher = {},
): AsyncIterableIterator<StreamEvent> {
  const { document, navigator, BroadcastChannel: channels } = globalThis
  if (!document || !navigator.locks || !channels) return openStream(requests, options, timing, { onLost })
  return leavable(options.signal, (signal) => {
    const log = new TabLog(options.since)
    takePart({ requests, timing, silenceMs, log, onLost }, signal, onUser).catch((error) => log.end(error))
    return log.read(signal)
  })
}

/** Takes part in the group of one inbox after the other, until the stream ends. */
async function takePart(
  tab: Omit<Tab, 'proof' | 'namedAt' | 'channel'>,
  signal: AbortSignal,
  onUser: SharedStreamWatcher['onUser'],
): Promise<void> {
  const { requests, timing, log, onLost } = tab
  for (let outcome: Outcome = 'moved'; outcome === 'moved'; ) {
    if (log.moves > 1) await pause(delayAfter(undefined, log.moves - 2, timing), signal)
    const { user, proof } = await nameOf({ requests, timing, onLost }, signal)
    onUser?.(user.id)
    signal.throwIfAborted()
    // Tabs with the same name share a stream.
    const channel = new BroadcastChannel(`carillon ${formatVersion} ${proof} ${requests.base} ${user.id}`)
    const member = { ...tab, proof, channel, namedAt: performance.now() }
    log.last = undefined
    try {
      do outcome = await takeTurn(member, outcome === 'silent', signal)
      while (outcome === 'silent' || outcome === 'deposed')
    } finally {
      channel.close()
    }
  }
}

/** `moved`: the stream has turned out to be that of another inbox. `deposed`: another tab has stolen the lock. */
type Outcome = 'ended' | 'moved' | 'silent' | 'deposed'

/** Follows until this tab gets the lock, then leads until another tab steals the lock or the stream ends. */
function takeTurn(tab: Tab, isStealing: boolean, signal: AbortSignal): Promise<Outcome> {
  return following(signal, async (turn) => {
    const follower = new Follower(tab, turn)
    const lead = async () => {
      follower.stop()
      turn.signal.throwIfAborted()
      // Without an inbox tag in its position, the tab could not detect that the stream belongs to another user.
      if (performance.now() - tab.namedAt > maxNameAgeMs && !inboxTagOf(tab.log.position)) return 'moved'
      return new Leader(tab).lead(turn.signal)
    }
    try {
      const how = isStealing ? { steal: true } : { signal: turn.signal }
      return await navigator.locks.request(tab.channel.name, how, lead)
    } catch (error) {
      if (turn.signal.reason === leaderIsSilent) return 'silent'
      turn.signal.throwIfAborted()
      // The page may not use locks, for example in a frame without an origin: the tab opens its own stream.
      if ((error as Error).name !== 'AbortError') return await lead()
      turn.abort()
      return 'deposed'
    } finally {
      follower.stop()
    }
  })
}

/** A script cannot read a session cookie, and another sign-in replaces it for all tabs: the server knows the user. */
async function nameOf(
  { requests, timing, onLost }: Pick<Tab, 'requests' | 'timing' | 'onLost'>,
  signal: AbortSignal,
): Promise<Me> {
  for (let failures = 0; ; failures++)
    try {
      const me = await requestMe(requests, { signal, timeoutMs: timing.connectMs })
      if (me) return me
      throw new CarillonError('UNAUTHORIZED', 'No user is signed in', { status: 401 })
    } catch (error) {
      if (isFinal(error)) throw error
      onLost?.(error)
      await pause(delayAfter(error, failures, timing), signal)
    }
}
