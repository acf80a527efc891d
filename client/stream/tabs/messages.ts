// The messages that the tabs of one inbox send each other. The name of the channel has the version of this format: tabs with
// another version of the client use another channel. A tab ignores messages of an unknown kind.
import type { CarillonError } from '../../transport/errors.ts'
import type { Position, StreamEvent } from '../../transport/types.ts'

export const formatVersion = 2

export type Message =
  /** A tab has become the leader and will continue from `position`. */
  | { kind: 'leading'; position: Position | undefined }
  /** An event of the stream. A follower that is not at `after` yet has missed events. */
  | { kind: 'event'; event: StreamEvent; after: Position | undefined }
  /** A follower requests the events after its position, or only a greeting if it has no position. */
  | { kind: 'request'; from: string; position: Position | undefined }
  /** The response of the leader: a greeting, and the events after the position in the request. */
  | { kind: 'response'; to: string; hello: StreamEvent; missed: StreamEvent[] }
  /** The proof that all tabs share has ended. */
  | { kind: 'error'; error: Omit<CarillonError, 'cause'> }

/** The part of a BroadcastChannel that sends. */
export type TabChannel = { postMessage(message: Message): void }
