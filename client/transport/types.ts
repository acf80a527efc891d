// The wire format as types. client/types.test.ts compares them with the server's schemas.

/** A point in time: ISO 8601, UTC, with milliseconds. */
export type Time = string
/** A place in the changes of one inbox: the `position` of an event or of {@link Changes}, or the `version` of a page. */
export type Position = string | number

export type User = {
  id: string
  /** The user's id in the application that created the user. */
  externalId: string | null
  username: string | null
  displayName: string | null
  /** A language tag (BCP 47), such as `de-CH`. */
  locale: string | null
  email: string | null
  createdAt: Time
}
/** The kind of proof in the request. */
export type Proof = 'session' | 'access-token'
/** What a sign-in creates: `stateful` a session with a cookie, `stateless` an access token. */
export type Variant = 'stateful' | 'stateless'
export type Credentials = { username: string; password: string; deviceToken?: string }

/** What completes a sign-in whose password was right. */
export type SecondFactorKind = 'totp' | 'passkey' | 'recovery-code'
/** `challenge`: of the error SECOND_FACTOR_REQUIRED. Without a code, a passkey completes the sign-in: the browser asks for it. */
export type SecondFactor = {
  challenge: string
  code?: string
  recoveryCode?: string
  passkey?: object
}

/** The session is in a cookie that scripts cannot read. */
export type StatefulLogin = {
  User: User
  expiresAt: Time
  variant: 'stateful'
  secondFactor?: SecondFactorDemand
}
/** `deviceToken`: sent with the next sign-in on this device, it keeps the guesses of others from delaying it. No proof. */
export type StatelessLogin = {
  User: User
  token: string
  expiresAt: Time
  variant: 'stateless'
  deviceToken?: string
  secondFactor?: SecondFactorDemand
}
export type Restricted = { userId: string; username: string | null; proof: Proof }
/**
 * From `by` on, the sign-in only sets a second factor up. `passkeyOnly`: only a passkey satisfies the service. `needsLink`: the first factor
 * needs a link that the service mails.
 */
export type SecondFactorDemand = {
  by: Time
  setupOnly: boolean
  passkeyOnly: boolean
  needsLink: boolean
}
/** `expiresAt`: the proof is valid until then, unless it is revoked. */
export type Me = {
  user: User
  emailVerified: boolean
  proof: Proof
  expiresAt: Time
  /** True after a session was disowned, until a new password is set. */
  passwordChangeRequired: boolean
  /** When a generated password stops working; null for one that the user chose. */
  passwordEndsAt: string | null
  /** What the service demands that this sign-in did not prove; null for nothing. */
  secondFactor: SecondFactorDemand | null
}

type Content = {
  /** Up to 4,000 characters. */
  body: string | null
  /** An http or https URL without a user name, or a path that begins with `/`. */
  url: string | null
  category: string | null
  /** At most 8 KiB as JSON. */
  data: Record<string, unknown> | null
  /** The subject of the notification: a later delivery with this key replaces its content. */
  key: string | null
}
/** The icons that every bell can draw. */
export type IconName =
  | ('bell' | 'check' | 'info' | 'warning' | 'error')
  | ('message' | 'user' | 'calendar' | 'money' | 'link')
/** An image is a path that begins with `/`, or of a host in `CARILLON_IMAGE_HOSTS`. */
export type Icon = IconName | { imageUrl: string }
export type Action = { label: string; url: string }
/** The bell shows what is `high` with an accent. */
export type Priority = 'low' | 'normal' | 'high'
export type Notification = Content & {
  id: string
  title: string
  actor: { name: string; imageUrl: string | null } | null
  icon: Icon | null
  actions: Action[] | null
  /** The format of the body. */
  format: 'text' | 'markdown'
  /** When it was first sent. */
  createdAt: Time
  /** When it was last sent: a later delivery with its `key` replaces it. */
  updatedAt: Time
  expiresAt: Time | null
  priority: Priority
  /** Its place: a list is ordered by `seq`, newest first. */
  seq: number
  /** How often it became the newest: 1, and 1 more for each delivery with `renotify`. */
  count: number
  read: boolean
  readAt: Time | null
  /** What is archived or snoozed is read, and not in a list without `status`. */
  archivedAt: Time | null
  snoozedUntil: Time | null
}

export type NotificationPage = {
  /** Newest first. */
  items: Notification[]
  /** The number of notifications that match the filter, on all pages. */
  total: number
  hasMore: boolean
  /** The number of unread notifications in the whole inbox. */
  unread: number
  version: number
  /** Pass it as `before` to get the next page. Null on the last page. */
  next: string | null
}

/** `archived` and `snoozed` are not in `total`. `unseen`: those that arrived after the last `seen`. */
export type Counts = Record<'total' | 'unread' | 'unseen' | 'archived' | 'snoozed', number> & {
  categories: Record<string, { total: number; unread: number }>
}

/**
 * All up to `throughSeq`, of `categories`, were marked read. `through`: the id of the newest; null
 * if its `seq` changed.
 */
export type ReadAll = {
  through: string | null
  throughSeq: number
  readAt: Time
  categories?: string[]
}

/** All up to `throughSeq` that were read, and neither archived nor snoozed. */
export type ArchiveRead = { throughSeq: number; archivedAt: Time }

/** By the user, by its sender, at its `expiresAt`, or by the limits of the service. */
export type RemovalReason = 'deleted' | 'withdrawn' | 'expired' | 'retention'

/** `reset`: the position is too old, or of another inbox. List again. */
export type Changes =
  | { reset: true }
  | ({
      reset?: undefined
      /** Oldest first, each in its current state. */
      created: Notification[]
      changed: Notification[]
      readAlls: ReadAll[]
      archiveReads: ArchiveRead[]
      /** The ids of removed notifications. */
      removed: string[]
      /** The position after these changes: the `since` of the next request. */
      position: string
      /** There are more changes: request again at once. */
      hasMore: boolean
    } & InboxState)

/** The state of the inbox after an event. */
export type InboxState = { version: number; unread: number; total: number; unseen: number }

/** The data of each kind of event. */
export type StreamData = Record<'hello' | 'seen' | 'resync', InboxState> & {
  [Type in
    | 'created'
    | 'replaced'
    | 'read'
    | 'unread'
    | 'archived'
    | 'unarchived'
    | 'snoozed']: InboxState & {
    notification: Notification
  }
} & {
  'read-all': InboxState & ReadAll
  'archive-read': InboxState & ArchiveRead
  removed: InboxState & { id: string; reason: RemovalReason }
}

/**
 * An event of the stream. Keep its `position`, and pass it as `since` later to resume after it.
 *
 * - `hello`: the stream is connected; first, and after every reconnect.
 * - `created`: new, or back from a snooze. `replaced`: new content under the same id, maybe with a
 *   new `seq`.
 * - `read`, `unread`, `archived`, `unarchived`, `snoozed`, `removed`: one notification. `seen`:
 *   changes only `unseen`.
 * - `read-all`, `archive-read`: see {@link ReadAll} and {@link ArchiveRead}.
 * - `resync`: events are missing. List again; the stream continues from here.
 */
export type StreamEvent = {
  [Type in keyof StreamData]: { type: Type; position: string } & StreamData[Type]
}[keyof StreamData]

export type SessionEnd = 'expired' | 'revoked'

export type MutedUntil = Time | 'forever' | null
/** When a mail is sent about what is unread. Null in its place: the default. */
export type MailRule = 'off' | '5m' | '15m' | '1h' | 'hourly' | 'daily' | 'weekly'
/** Times such as `22:00`, in the time zone of the user. */
export type QuietHours = { from: string; to: string }
/** Whether something is pushed; a null in its place is `on`. */
export type PushRule = 'on' | 'off'
/** `label` and `description` are in the language of the user. `mandatory`: it is never muted. */
export type CategoryPreferences = {
  mutedUntil: MutedUntil
  mail: MailRule | null
  /** The rule that holds while `mail` is null. */
  usualMail: MailRule
  push: PushRule | null
  label: string
  description: string | null
  mandatory: boolean
}
/** `categories`: those that are declared, muted, or in the inbox. */
export type Preferences = {
  mutedUntil: MutedUntil
  mail: MailRule | null
  usualMail: MailRule
  push: PushRule | null
  timeZone: string | null
  digestAt: number | null
  quietHours: QuietHours | null
  /** Whether mails reach the user. `refused`: the mail server refuses the address; `off`: the service sends none. */
  ways: { mail: 'on' | 'no-address' | 'refused' | 'off' }
  categories: Record<string, CategoryPreferences>
}
export type CategoryChoice = {
  mutedUntil?: MutedUntil
  mail?: MailRule | null
  push?: PushRule | null
  label?: unknown
  description?: unknown
  mandatory?: unknown
  usualMail?: unknown
}
/**
 * What is absent stays as it is. Members of the type `unknown` change nothing, so that `Preferences`
 * can be sent back.
 */
export type PreferencesChange = {
  usualMail?: unknown
  ways?: unknown
  mutedUntil?: MutedUntil | undefined
  mail?: MailRule | null | undefined
  push?: PushRule | null | undefined
  timeZone?: string | null | undefined
  /** The hour of digests; null for 8. */
  digestAt?: number | null | undefined
  quietHours?: QuietHours | null | undefined
  categories?: Record<string, CategoryChoice> | undefined
}

/** The browsers in which the user is notified. `sessionId`: null if an application got the token. `current`: of the sign-in of the request. */
export type PushSubscriptions = {
  publicKey: string
  items: {
    id: string
    sessionId: string | null
    current: boolean
    device: string | null
    url: string
    createdAt: Time
    lastUsedAt: Time
  }[]
}

/** An `externalId` without `issuer` is a plain one. */
export type Recipient =
  | { username: string }
  | { userId: string }
  | { externalId: string; issuer?: string }

/** One text, or one for each language tag (BCP 47, `de-CH`): the reader's `locale` decides. */
export type Texts = string | Record<string, string>
/** A null means that the member is absent. */
export type DeliveryRequest = {
  [Name in Exclude<keyof Content, 'body'>]?: Content[Name] | undefined
} & {
  /** 1 to 1,000 recipients. */
  recipients: Recipient[]
  /** 1 to 200 characters. */
  title: Texts
  /** Up to 4,000 characters. */
  body?: Texts | null | undefined
  actor?: { name: string; imageUrl?: string | null } | null | undefined
  icon?: Icon | null | undefined
  /** At most two. */
  actions?: Action[] | null | undefined
  /** The format of the body; default `text`. */
  format?: 'text' | 'markdown' | null | undefined
  /** In the future. */
  expiresAt?: Time | null | undefined
  /** Default: `normal`. */
  priority?: Priority | null | undefined
  /** Needs `key`. Makes the replaced notification unread and newest, and raises its `count`. */
  renotify?: boolean | null | undefined
  /**
   * What unknown recipients cause. `report` (the default): the others get it. `refuse`:
   * UNPROCESSABLE, and nobody does. Without a known recipient, it is always UNPROCESSABLE.
   */
  unknownRecipients?: 'report' | 'refuse' | null | undefined
}

export type DeliveryResult = {
  userId: string | null
  id: string | null
  status: 'delivered' | 'updated' | 'muted' | 'unknown_recipient'
}
/** `results` has the order of the recipients. */
export type Delivery = { deliveryId: string; results: DeliveryResult[] }

export type NotificationChange = Partial<
  Omit<DeliveryRequest, 'recipients' | 'key' | 'renotify' | 'unknownRecipients'>
>
/** In how many inboxes it is. Above 1,000, some change in the background. */
export type KeyChange = { inboxes: number }

export type CategoryDeclaration = {
  name: Texts
  description?: Texts | null | undefined
  mandatory?: boolean | null | undefined
  mail?: MailRule | null | undefined
}
export type Category = {
  name: Texts
  description: Texts | null
  mandatory: boolean
  mail: MailRule | null
}

export type UserAccount = User & {
  /** Whether the application, a provider, or a link that was sent to the address verified it. */
  emailVerified: boolean
  disabled: boolean
  /** The application that the user belongs to; absent if it belongs to none. */
  application?: string
  /** The issuer of foreign tokens that the external id belongs to; absent for a plain id. */
  issuer?: string
  /** True if this call creates a user again who was erased; otherwise absent. */
  erased?: boolean
}
/** A field that is absent keeps its value; null clears it. */
export type UserProfile = {
  displayName?: string | null | undefined
  /** A language tag (BCP 47), such as `de-CH`. */
  locale?: string | null | undefined
  email?: string | null | undefined
  /** Whether the address is verified; another address is not, unless the call says so. */
  emailVerified?: boolean | undefined
  /** The user's mails follow it, such as `Europe/Berlin`; null is UTC. The user can choose another one. */
  timeZone?: string | null | undefined
}
export type UserChange = UserProfile & {
  username?: string | null | undefined
  disabled?: boolean | undefined
}
export type UserEntry = UserChange & {
  externalId: string
  /** The hash of another system: bcrypt, scrypt, argon2 or PBKDF2. */
  passwordHash?: string | null | undefined
}
export type NewUser = UserProfile & {
  username: string
  password?: string | undefined
  passwordHash?: string | undefined
  externalId?: string | null | undefined
}
/** `next`: pass it as `after` to get the next page. Null on the last page. */
export type UserPage = { items: UserAccount[]; next: string | null }
export type UserPut = {
  externalId: string
  status: 'created' | 'updated'
  erased?: boolean
  user: UserAccount
}
/** `invite`: a first password for a user who cannot sign in yet. `reset`: another one. */
export type LinkRequest = {
  purpose: 'invite' | 'reset'
  /** Where the browser goes afterwards: a path of Carillon, or a URL of an origin that it allows. It is not in the link. */
  returnTo?: string | undefined
  /** Seconds, up to 7 days; without it, the setting of the purpose. */
  lifetime?: number | undefined
  /** The address on record, if you send the link there: its use verifies the address. */
  mailedTo?: string | undefined
}
/** The token of a link is the part of `url` after `#`. */
export type UserLink = { url: string; expiresAt: Time }
export type WebhookEventType =
  | `notification.${'unread' | 'created' | 'read' | 'archived' | 'deleted'}`
  | 'user.erased'
  | 'webhook.test'
/** Without the other members if it is gone, or if there are too many. */
export type WebhookItem = {
  id: string
  key?: string | null
  category?: string | null
  priority?: Priority
  title?: string
  url?: string | null
  createdAt?: Time
  updatedAt?: Time | null
  readAt?: Time | null
  archivedAt?: Time | null
}
/** `id`: the same if it comes again. */
export type WebhookEvent = {
  id: string
  type: WebhookEventType
  timestamp: Time
  data: {
    user?: { id: string; username: string | null; externalId: string | null }
    items?: WebhookItem[]
    /** How many unread ones are not among the items. */
    more?: number
    reason?: 'deleted' | 'withdrawn' | 'expired' | 'retention'
  }
}
export type WebhookEvents = { events: WebhookEvent[]; cursor: string | null; missed: boolean }
/** A token that is not renewed: request another one before it ends. */
export type IssuedToken = { token: string; expiresAt: Time }

export type PasswordFault = 'too_short' | 'too_long' | 'too_common' | 'contains_name'
/** One invalid field of the request, and the reason. `code`: of a refused password. */
export type Fault = { field: string; reason: string; code?: PasswordFault }

/** Every error code of the server, with its HTTP status. */
export type StatusOf = Record<
  'Unauthorized' | 'UNAUTHORIZED' | 'INVALID_CREDENTIALS' | 'SECOND_FACTOR_REQUIRED',
  401
> &
  Record<'FORBIDDEN' | 'FRESH_SIGN_IN_REQUIRED' | 'FACTOR_UNREADABLE', 403> &
  Record<'UNPROCESSABLE' | 'LINK_INVALID', 422> & {
    INVALID_REQUEST: 400
    NOT_FOUND: 404
    METHOD_NOT_ALLOWED: 405
    TIMEOUT: 408
    CONFLICT: 409
    PAYLOAD_TOO_LARGE: 413
    UNSUPPORTED_MEDIA_TYPE: 415
    MISDIRECTED_REQUEST: 421
    TOO_MANY_REQUESTS: 429
    HEADERS_TOO_LARGE: 431
    INTERNAL: 500
    UNAVAILABLE: 503
  }
