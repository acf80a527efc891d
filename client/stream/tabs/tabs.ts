// One stream for all tabs of a browser: over HTTP/1.1 a browser has six connections to a server, for all its tabs together.
// tab-group.ts decides which tab leads; leader.ts and follower.ts exchange the messages of messages.ts.
import { delayAfter } from '../../transport/backoff.ts'
import { leavable, pause } from '../../transport/cancellation.ts'
import type { Position, StreamEvent } from '../../transport/types.ts'
import { EventQueue } from './event-queue.ts'
import type { FollowerTiming } from './follower.ts'
import type { StreamSource } from './leader.ts'
import { type SharedInbox, TabGroup } from './tab-group.ts'
import { TabLog } from './tab-log.ts'

export type SharedStream = StreamSource &
  FollowerTiming & {
    /** Requests the inbox of the proof. Called again if the stream turns out to be that of another inbox. */
    inbox: (signal: AbortSignal) => Promise<SharedInbox>
    since?: Position | undefined
    signal?: AbortSignal | undefined
  }

/**
 * Yields each event once and in order in every tab. Outside a page, or in a browser without Web Locks and BroadcastChannel,
 * each tab has its own stream. Sends no request before the first `next()`; `return()` ends the loop at once, even while a
 * `next()` waits.
 */
export function shareAmongTabs(stream: SharedStream): AsyncIterableIterator<StreamEvent> {
  const { document, navigator, BroadcastChannel: channels } = globalThis
  if (!document || !navigator.locks || !channels)
    return stream.open({ since: stream.since, signal: stream.signal }, () => {})
  return leavable(stream.signal, (signal) => eventsOf(stream, signal))
}

async function* eventsOf(stream: SharedStream, signal: AbortSignal): AsyncGenerator<StreamEvent, void> {
  const queue = new EventQueue()
  void takePart(stream, queue, signal)
  yield* queue.read(signal)
}

/** Takes part in the group of one inbox after the other, until the stream ends. */
async function takePart(stream: SharedStream, queue: EventQueue, signal: AbortSignal): Promise<void> {
  const { backoff, inbox, since } = stream
  const log = new TabLog(queue, since)
  try {
    let group: TabGroup
    do {
      if (log.moves > 1) await pause(delayAfter(undefined, log.moves - 2, backoff), signal)
      group = new TabGroup(await inbox(signal), stream, log)
    } while ((await group.takePart(signal)) === 'moved')
    queue.end()
  } catch (error) {
    queue.end(error)
  }
}
