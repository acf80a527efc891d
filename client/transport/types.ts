// What goes over the wire, as types: every answer, every event, every request body, every error code. types.test.ts holds
// them equal to the server's own schemas.

/** A moment: ISO 8601, UTC, with milliseconds. */
export type Time = string
/**
 * A place in the history of one inbox, such as `42-5f3a9c1e`: `position` of an event or of {@link Changes}. A bare version,
 * as a list answers it, serves too.
 */
export type Position = string | number

export type User = { id: string; username: string; displayName: string | null; createdAt: Time }
/** What showed who is calling: a session's cookie or an access token. */
export type Proof = 'session' | 'access-token'
/** How a sign-in is carried on: `stateful` by a session and its cookie, `stateless` by an access token. */
export type Variant = 'stateful' | 'stateless'
export type Credentials = { username: string; password: string }

/** The session itself is in a cookie that no script can read. */
export type StatefulLogin = { User: User; expiresAt: Time }
export type StatelessLogin = { User: User; token: string; expiresAt: Time }
export type Restricted = { userId: string; username: string; proof: Proof }
/** `expiresAt` is when the proof ends at the latest. */
export type Me = { user: User; proof: Proof; expiresAt: Time }

export type Notification = {
  id: string
  title: string
  body: string | null
  /** http, https or relative. */
  url: string | null
  category: string | null
  data: Record<string, unknown> | null
  key: string | null
  createdAt: Time
  read: boolean
  readAt: Time | null
  archivedAt: Time | null
}

export type NotificationPage = {
  /** Newest first. */
  items: Notification[]
  /** How many the filter matches, on all pages. */
  total: number
  hasMore: boolean
  /** How many of the whole inbox are unread: the number on the bell. */
  unread: number
  version: number
  /** The `before` of the page that follows; null on the last. */
  next: string | null
}

export type Counts = {
  total: number
  unread: number
  categories: Record<string, { total: number; unread: number }>
}

/** Everything up to and with the notification `through` was marked as read at once. */
export type ReadAll = { through: string; readAt: Time }

/** `reset`: the position was too old or of another inbox; list anew. The server leaves it out otherwise. */
export type Changes =
  | { reset: true }
  | {
      reset?: undefined
      /** Oldest first, each as it is now. */
      created: Notification[]
      changed: Notification[]
      readAlls: ReadAll[]
      /** The ids of those that are gone. */
      removed: string[]
      total: number
      unread: number
      version: number
      /** How far this answer brings; ask again from here. */
      position: string
      /** Ask again at once. */
      hasMore: boolean
    }

/** The inbox as it is after an event. */
export type InboxState = { version: number; unread: number; total: number }

/** The data of each kind of event, as the stream carries it. */
export type StreamData = {
  hello: InboxState
  notification: InboxState & { notification: Notification }
  read: InboxState & { notification: Notification }
  'read-all': InboxState & ReadAll
  resync: InboxState
}

/**
 * What {@link https://html.spec.whatwg.org/multipage/server-sent-events.html | the stream} tells. `position` resumes behind
 * the event: keep it, and give it as `since` some other time.
 *
 * - `hello`: the stream stands. The first event, and the first again after every reconnect.
 * - `notification`: a new one, or one whose content was replaced (an id that is known).
 * - `read`: one was marked as read. `read-all`: all up to `through` were.
 * - `resync`: what happened since cannot be told any more; list anew. The stream goes on from here.
 */
export type StreamEvent = {
  [Type in keyof StreamData]: { type: Type; position: string } & StreamData[Type]
}[keyof StreamData]

/** Why a stream was ended by the server: the proof that opened it ran out, or was ended early. */
export type SessionEnd = 'expired' | 'revoked'

export type Recipient = { username: string } | { userId: string }

export type DeliveryRequest = {
  /** 1 to 1,000. */
  recipients: Recipient[]
  /** 1 to 200 characters. */
  title: string
  /** Up to 4,000 characters. */
  body?: string | undefined
  /** http, https or relative. */
  url?: string | undefined
  category?: string | undefined
  /** At most 8 KiB as JSON. */
  data?: Record<string, unknown> | undefined
  /** What it is about: a later one with this key replaces the content of the earlier. */
  key?: string | undefined
}

export type DeliveryResult = {
  userId: string | null
  id: string | null
  status: 'delivered' | 'updated' | 'unknown_recipient'
}
/** `results` are in the order of the recipients. */
export type Delivery = { deliveryId: string; results: DeliveryResult[] }

/** One field of the request that was wrong, and why. */
export type Fault = { field: string; reason: string }

/** Every code that the server answers with, and its status. */
export type StatusOf = {
  Unauthorized: 401
  UNAUTHORIZED: 401
  INVALID_CREDENTIALS: 401
  INVALID_REQUEST: 400
  FORBIDDEN: 403
  NOT_FOUND: 404
  METHOD_NOT_ALLOWED: 405
  TIMEOUT: 408
  CONFLICT: 409
  PAYLOAD_TOO_LARGE: 413
  UNSUPPORTED_MEDIA_TYPE: 415
  MISDIRECTED_REQUEST: 421
  UNPROCESSABLE: 422
  TOO_MANY_REQUESTS: 429
  HEADERS_TOO_LARGE: 431
  INTERNAL: 500
  UNAVAILABLE: 503
}
