// The messages between tabs of one inbox. Tabs with another `formatVersion` use another channel.
import type { CarillonError } from '../../transport/errors.ts'
import type { Requests } from '../../transport/requests.ts'
import type { Position, Proof, StreamEvent } from '../../transport/types.ts'
import type { ClientFunctions } from '../client-functions.ts'
import type { StreamWatcher, Timing } from '../subscription.ts'
import type { TabLog } from './tab-log.ts'

export const formatVersion = 4

/** Tabs ignore unknown kinds. */
export type Message =
  | { kind: 'leading' }
  /** A follower that is not at `after` has missed events. */
  | { kind: 'event'; event: StreamEvent; after: Position | undefined }
  | { kind: 'request'; from: string; position: Position | undefined }
  | { kind: 'response'; to: string; hello: StreamEvent; missed: StreamEvent[] }
  /** `error`: the shared proof ended. `lost`: the leader cannot connect, and retries. */
  | { kind: 'error' | 'lost'; error: Omit<CarillonError, 'cause'> }

export type Tab = {
  functions: ClientFunctions
  requests: Requests
  timing: Timing
  silenceMs: number
  proof: Proof
  namedAt: number
  log: TabLog
  watcher: StreamWatcher
  channel: Omit<BroadcastChannel, 'postMessage'> & { postMessage(message: Message): void }
}
