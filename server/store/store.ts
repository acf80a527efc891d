// Where Carillon keeps things, as the rest of the house sees it. Each comment is a promise, and store.contract.ts holds
// every engine to it under the same words. Nothing of an engine shows here: rules live above, SQL lives below.
//
// For all of it: times are milliseconds since 1970 UTC. Absence is returned (`undefined`, 'absent'), never thrown.
// A write that resolved is on the disk. When the system fails (disk full, store away) a call throws CarillonError
// UNAVAILABLE, and then nothing of that call was kept unless the message says that its outcome is unknown.

export type User = {
  id: string
  /** As prepared by sign-in/username.ts; unique, and never changes. */
  username: string
  displayName: string | null
  createdAt: number
  disabledAt: number | null
  /** Starts at 0. Every new password and every disabling raises it by one, so that earlier tokens are revoked. */
  credentialGeneration: number
}

export type NewUser = Omit<User, 'disabledAt' | 'credentialGeneration'> & { passwordHash: string }

/** The one row that every change of an inbox takes first. A user who was never told anything has all zeros. */
export type InboxState = {
  /** Raised by one with every change, in the order in which changes become visible. */
  version: number
  /** `firstSeq..lastSeq` are the sequence numbers in use; dense, so `total` is their count. */
  firstSeq: number
  lastSeq: number
  total: number
  unread: number
  /** Everything up to this sequence number is read. */
  readThrough: number
}

export const emptyInbox: InboxState = { version: 0, firstSeq: 1, lastSeq: 0, total: 0, unread: 0, readThrough: 0 }

/** Where a session is kept: with its user, so that looking it up touches what is his and nothing else. */
export type SessionKey = { userId: string; secretHash: string }

export type LiveSession = {
  userId: string
  username: string
  createdAt: number
  lastSeenAt: number
  /** The owner's inbox as the same read saw it. */
  inbox: InboxState
  /** The page that the caller requested with the session, as the same read saw it. */
  page?: Page
}

/** A session as it was when it ended. Whether it was still alive by its age is for the caller to say. */
export type EndedSession = Omit<LiveSession, 'inbox'>

export type TokenRevocation = {
  userId: string
  /** One sign-in, or null for every sign-in of the user. */
  signInId: string | null
  /** Revokes the sign-ins with a lower credential generation, whatever the clocks say; 0 in a row of one sign-in. */
  firstGeneration: number
  /** For tokens that carry no generation (issued before 0002): revokes the sign-ins that began before this moment. */
  notBefore: number
  /** From here on no token that it could cut is alive, and the row may go. */
  expiresAt: number
}

export type SigningKey = { kid: string; publicJwk: string; sealedPrivateJwk: string; createdAt: number }

export type Producer = {
  id: string
  name: string
  secretHash: string
  scopes: readonly string[]
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
}

/** Which notifications of an inbox: a numbered page, or those before a sequence number. */
export type PageRequest = { limit: number; unreadOnly: boolean } & ({ page: number } | { before: number })
/** `unlessVersion` is the version of the inbox that the caller has a page of already. */
export type PageQuery = PageRequest & { userId: string; unlessVersion?: number }

/** Notifications as JSON text, ready to be sent: what was stored, with the reader's state added. */
export type Page = {
  inbox: InboxState
  /** A JSON array, newest first. */
  items: string
  /** The `before` of the page that follows, or null where this one reaches the end. */
  next: number | null
}

export type Counts = { inbox: InboxState; categories: Record<string, { total: number; unread: number }> }

/** A notification is JSON text, as it is now; `replaced` is one whose content took the place of an earlier. */
export type Change =
  | { version: number; type: 'arrived' | 'replaced' | 'read'; notification: string }
  | { version: number; type: 'read-all'; throughId: string; at: string }
export type Changes = { inbox: InboxState; changes: Change[]; more: boolean }

export type Recipient = { username: string } | { userId: string }

export type Delivery = {
  id: string
  producerId: string
  idempotency: { key: string; bodyHash: string } | null
  /** The immutable part of the notification, without id and read state: members of a JSON object, without its braces. */
  content: string
  category: string | null
  /** At most one notification of an inbox has this key: a later one replaces the content of the earlier. */
  key: string | null
  recipients: readonly { to: Recipient; notificationId: string }[]
  at: number
}

export type DeliveryResult = { userId: string | null; id: string | null; status: DeliveryStatus }
export type DeliveryStatus = 'delivered' | 'updated' | 'unknown_recipient'
export type DeliveryOutcome = { deliveryId: string; results: readonly DeliveryResult[] }

/** A hint that something changed, never the data: whoever hears it reads again. */
export type ChangeSignal =
  | { about: 'inbox' | 'session'; userId: string }
  | { about: 'token-revocation' }
  | { about: 'anything' }

export interface Store {
  // Users

  /** Adds a user, or says that the username is taken and changes nothing. */
  addUser(user: NewUser): Promise<'added' | 'taken'>
  findUser(userId: string): Promise<User | undefined>
  /** Finds a user by prepared username, with the password hash. The generation is the one that the hash belongs to. */
  findCredentials(username: string): Promise<(User & { passwordHash: string }) | undefined>
  /** Lists users in the order of their usernames, at most `limit` of them, those after `after`. */
  listUsers(query: { after: string; limit: number }): Promise<User[]>
  /**
   * Disables a user: in one step the credential generation is raised, every session ends and every token is revoked.
   * Repeating keeps the first moment.
   */
  disableUser(change: { userId: string; at: number; revocationExpiresAt: number }): Promise<'done' | 'absent'>
  /**
   * Sets a password and enables the user: in one step the credential generation is raised, every session ends and every
   * token is revoked.
   */
  setPassword(change: {
    userId: string
    passwordHash: string
    at: number
    revocationExpiresAt: number
  }): Promise<'done' | 'absent'>

  // Sessions

  /**
   * Keeps a session, and ends those that `replaces` names, in one step. Keeps and ends nothing where the user is gone, is
   * disabled or no longer has the password hash that was checked ('refused').
   */
  addSession(
    session: SessionKey & { checkedPasswordHash: string; at: number; replaces: readonly SessionKey[] },
  ): Promise<'added' | 'refused'>
  /**
   * Finds a session whose user is not disabled. Whether it is too old is the caller's to say. With `page`, the answer holds
   * what `readPage` would answer at the same moment, at no more round trips; without a session no page is read. A numbered
   * page of the unread that is deep among gaps is left out: `readPage` reads it.
   */
  findSession(key: SessionKey, page?: PageRequest): Promise<LiveSession | undefined>
  /** Notes that a session was used. Names a live row: an ended session is never revived. */
  touchSession(session: SessionKey & { at: number }): Promise<void>
  /**
   * Ends sessions in one step and answers those that it ended, each once. One that is not there was never kept, or has ended
   * already; if none is there, nothing is written.
   */
  endSessions(keys: readonly SessionKey[]): Promise<EndedSession[]>
  /**
   * Removes sessions that began before `createdBefore`, or were last used before `lastSeenBefore` or after `lastSeenAfter`
   * (the clock was set back since).
   */
  removeStaleSessions(bounds: { createdBefore: number; lastSeenBefore: number; lastSeenAfter: number }): Promise<void>

  // Access tokens

  /**
   * Revokes the tokens of one sign-in, or, if none is named, those of the user that carry no credential generation.
   * Of two revocations of the same thing the later moment holds; the first valid generation stays as it is.
   */
  revokeTokens(revocation: Omit<TokenRevocation, 'firstGeneration'>): Promise<void>
  /**
   * Lists the cutoffs that can still matter at `now`. A row is kept for a day after it expired, because the clock may
   * be set back.
   */
  tokenRevocations(now: number): Promise<TokenRevocation[]>
  /** Keeps a first signing key, or nothing where there is one already; answers all keys, oldest first. */
  ensureSigningKey(key: SigningKey): Promise<SigningKey[]>
  signingKeys(): Promise<SigningKey[]>

  // Producers

  addProducer(producer: Omit<Producer, 'revokedAt' | 'lastUsedAt'>): Promise<void>
  findProducer(producerId: string): Promise<Producer | undefined>
  /** Lists producers, oldest first, revoked ones included. */
  listProducers(): Promise<Producer[]>
  /** Revokes a producer's key. Repeating keeps the first moment. */
  revokeProducer(change: { producerId: string; at: number }): Promise<'done' | 'absent'>
  touchProducer(change: { producerId: string; at: number }): Promise<void>

  // Inbox

  readInbox(userId: string): Promise<InboxState>
  /**
   * A page at any depth costs the same; a page past the end is empty. Newest first, in the order of sequence.
   * 'unchanged' where the inbox still has the version that the caller knows.
   */
  readPage(query: PageQuery): Promise<Page | 'unchanged'>
  /** One notification of this user as JSON text; another user's is absent. */
  readNotification(owned: { userId: string; id: string }): Promise<string | undefined>
  readCounts(userId: string): Promise<Counts>
  /**
   * What changed after a version, in order, at most `limit` changes: `more` says that others follow the last one. Every
   * notification that arrived is there at the version at which it did, once; one that was changed since is there again,
   * at its last change. 'reset' where the version was never reached, or lies more than `maxBehind` changes back.
   */
  changesSince(query: {
    userId: string
    version: number
    limit: number
    maxBehind?: number
  }): Promise<Changes | 'reset'>
  /** Marks one notification of this user as read. Repeating changes nothing and keeps the first moment. */
  markRead(change: { userId: string; id: string; at: number }): Promise<'done' | 'absent'>
  /**
   * Marks everything as read that has arrived, or everything up to and with `throughId`. One that arrives meanwhile
   * stays unread. Costs the same however much was unread; each category that the inbox knows adds its one row.
   */
  markAllRead(change: { userId: string; throughId: string | null; at: number }): Promise<'done' | 'absent'>

  // Deliveries

  /**
   * Delivers to all known recipients or to none, in one step with the record of its idempotency key. A recipient named
   * twice is told once. The same key and body again answers the first outcome and does nothing; another body under the
   * same key is 'mismatch'.
   */
  deliver(delivery: Delivery): Promise<DeliveryOutcome | 'mismatch'>
  /** Forgets the idempotency keys that were used before `before`. */
  removeOldDeliveries(before: number): Promise<void>

  // Life

  /**
   * Names this history of changes: another one after a restore, a move or a failover, where a version may be reached again
   * by another change. It may change while the store is open; the ring "anything" follows.
   */
  readonly history: string
  /** The one clock of all processes, milliseconds since 1970; where it is missing, this machine's is the only one. */
  readonly clock?: () => number
  /** Calls `listener` after every commit that changed something it may care for, wherever the commit was made. */
  onChange(listener: (ring: ChangeSignal) => void): () => void
  /** Resolves, with the reason, when the store has failed for good and the process has to be started anew. */
  readonly failed: Promise<Error>
  /** Throws UNAVAILABLE where reading or writing cannot work now. */
  check(): Promise<void>
  /** Finishes the writes under way and lets go of the store. */
  close(): Promise<void>
}
