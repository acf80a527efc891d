// What the store is asked, on the main thread. The reads that wait in one turn of the event loop share one read
// transaction (a lone one pays 2.5 us for its own); it ends early when a commit is reported, so that whoever wrote
// reads what he wrote.
import { CarillonError } from '../../../errors.ts'
import {
  firstOf,
  type Row,
  toChange,
  toCredentials,
  toInbox,
  toProducer,
  toReadAll,
  toSession,
  toSigningKey,
  toTokenRevocation,
  toUser,
} from '../../rows.ts'
import {
  type Changes,
  type Counts,
  emptyInbox,
  type InboxState,
  type LiveSession,
  type Page,
  type PageQuery,
  type PageRequest,
  type Producer,
  type SessionKey,
  type SigningKey,
  type Store,
  type TokenRevocation,
  type User,
} from '../../store.ts'
import { blockSize, type UnreadPlace } from '../../unread-blocks.ts'
import { asStoreError, type Database, type Statement } from '../database.ts'
import { statements } from './statements.ts'

type ChangesQuery = Parameters<Store['changesSince']>[0]
type Prepared = Record<keyof typeof statements, Statement>

/** Kept for as long as the process lives: a connection that is collected as garbage is closed. */
const abandoned: Database[] = []

export class Reads {
  readonly #database: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #prepared: Prepared
  #isOpen = false
  #isClosed = false

  constructor(database: Database) {
    this.#database = database
    this.#begin = database.prepare('begin')
    this.#commit = database.prepare('commit')
    this.#prepared = Object.fromEntries(
      Object.entries(statements).map(([name, sql]) => {
        const statement = database.prepare(sql)
        statement.setReturnArrays(true)
        return [name, statement]
      }),
    ) as Prepared
  }

  /** Lets the next read see what has been committed since this turn's first read. */
  endSnapshot = (): void => {
    if (!this.#isOpen) return
    this.#isOpen = false
    try {
      this.#commit.run()
    } catch {
      // After a read that met a damaged page; whoever read it has been told, and there is nothing here to lose.
      if (this.#database.isTransaction) this.#database.exec('rollback')
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.endSnapshot()
    this.#isClosed = true
    this.#database.close()
  }

  /** As `close`, for a file that is another one by now: closing its last connection would write to it. */
  abandon(): void {
    this.endSnapshot()
    this.#isClosed = true
    abandoned.push(this.#database)
  }

  #beginSnapshot(): void {
    if (this.#isOpen) return
    if (this.#isClosed) throw new CarillonError('UNAVAILABLE', 'The store is closed')
    this.#begin.run()
    this.#isOpen = true
    setImmediate(this.endSnapshot)
  }

  #one(name: keyof Prepared, ...values: (string | number)[]): Row | undefined {
    try {
      this.#beginSnapshot()
      return this.#prepared[name].get(...values) as Row | undefined
    } catch (error) {
      throw asStoreError(error)
    }
  }

  #all(name: keyof Prepared, ...values: (string | number)[]): Row[] {
    try {
      this.#beginSnapshot()
      return this.#prepared[name].all(...values) as unknown as Row[]
    } catch (error) {
      throw asStoreError(error)
    }
  }

  // Users, sessions, tokens, producers

  user(userId: string): User | undefined {
    const row = this.#one('user', userId)
    return row && toUser(row)
  }

  credentials(username: string): (User & { passwordHash: string }) | undefined {
    const row = this.#one('credentials', username)
    return row && toCredentials(row)
  }

  users(query: { after: string; limit: number }): User[] {
    return this.#all('users', query.after, query.limit).map(toUser)
  }

  session({ userId, secretHash }: SessionKey, page?: PageRequest): LiveSession | undefined {
    const row = this.#one('session', userId, secretHash)
    if (row === undefined) return undefined
    const session = toSession(row)
    const found = page === undefined ? 'uncounted' : this.#pageOf({ ...page, userId }, session.inbox)
    return found === 'uncounted' ? session : { ...session, page: found }
  }

  tokenRevocations(now: number): TokenRevocation[] {
    return this.#all('tokenRevocations', now).map(toTokenRevocation)
  }

  signingKeys(): SigningKey[] {
    return this.#all('signingKeys').map(toSigningKey)
  }

  producer(producerId: string): Producer | undefined {
    const row = this.#one('producer', producerId)
    return row && toProducer(row)
  }

  producers(): Producer[] {
    return this.#all('producers').map(toProducer)
  }

  // Inbox

  inbox(userId: string): InboxState {
    const row = this.#one('inbox', userId)
    return row === undefined ? emptyInbox : toInbox(row)
  }

  /** 'uncounted' if this is a deep page of unread notifications with gaps, and `place` is missing. */
  page(query: PageQuery, place?: UnreadPlace): Page | 'unchanged' | 'uncounted' {
    const inbox = this.inbox(query.userId)
    return inbox.version === query.unlessVersion ? 'unchanged' : this.#pageOf(query, inbox, place)
  }

  #pageOf(query: PageQuery, inbox: InboxState, place?: UnreadPlace): Page | 'uncounted' {
    const found = 'before' in query ? this.#pageBefore(query, inbox) : this.#numberedPage(query, inbox, place)
    if (found === 'uncounted') return found
    const [items, lowest] = found ?? []
    if (!items) return { inbox, items: '[]', next: null }
    return {
      inbox,
      items: items as string,
      next: this.#isMoreBelow(query, inbox, lowest as number) ? (lowest as number) : null,
    }
  }

  #pageBefore({ userId, unreadOnly, before, limit }: PageQuery & { before: number }, inbox: InboxState) {
    if (unreadOnly) return this.#one('unreadBefore', userId, inbox.readThrough, before, limit)
    const highest = Math.min(before - 1, inbox.lastSeq)
    return this.#one('range', userId, inbox.readThrough, highest - limit, highest)
  }

  #numberedPage(
    { userId, unreadOnly, page, limit }: PageQuery & { page: number },
    inbox: InboxState,
    place?: UnreadPlace,
  ): Row | undefined | 'uncounted' {
    const count = unreadOnly ? inbox.unread : inbox.total
    const skipped = (page - 1) * limit
    if (skipped >= count) return undefined
    const taken = Math.min(limit, count - skipped)
    const behind = count - skipped - taken
    // Without a gap a page is a range of sequence numbers. Only what was read one by one leaves gaps in the unread.
    // Near an end those are counted over; further away it takes the counts of blocks (deep-unread.ts).
    const isDense = !unreadOnly || inbox.unread === inbox.lastSeq - inbox.readThrough
    const highest = inbox.lastSeq - skipped
    if (isDense) return this.#one('range', userId, inbox.readThrough, highest - taken, highest)
    if (place) return this.#one('unreadFrom', userId, inbox.readThrough, place.highest, taken, place.skip)
    if (Math.min(skipped, behind) > blockSize) return 'uncounted'
    if (skipped <= behind) return this.#one('unreadFromNewest', userId, inbox.readThrough, taken, skipped)
    return this.#one('unreadFromOldest', userId, inbox.readThrough, taken, behind)
  }

  /** How many notifications of a block have no read_at. */
  unreadInBlock(userId: string, block: number): number {
    return this.#one('unreadInBlock', userId, block * blockSize, (block + 1) * blockSize)?.[0] as number
  }

  /** The sequence numbers of the notifications that changed after a version. */
  changedSeqs(userId: string, version: number): number[] {
    return this.#all('changedSeqs', userId, version).map(([seq]) => seq as number)
  }

  #isMoreBelow({ userId, unreadOnly }: PageQuery, { firstSeq, readThrough }: InboxState, lowest: number): boolean {
    if (!unreadOnly) return lowest > firstSeq
    return this.#one('isUnreadBefore', userId, readThrough, lowest)?.[0] === 1
  }

  notification(owned: { userId: string; id: string }): string | undefined {
    return this.#one('notification', owned.userId, owned.id)?.[0] as string | undefined
  }

  counts(userId: string): Counts {
    const categories: Counts['categories'] = Object.create(null)
    for (const [category, total, unread] of this.#all('categories', userId))
      categories[category as string] = { total: total as number, unread: unread as number }
    return { inbox: this.inbox(userId), categories }
  }

  changesSince({ userId, version, limit, maxBehind = Infinity }: ChangesQuery): Changes | 'reset' {
    const inbox = this.inbox(userId)
    const { readThrough } = inbox
    const behind = inbox.version - version
    if (behind < 0 || version < 0 || behind > maxBehind) return 'reset'
    if (behind === 0) return { inbox, changes: [], more: false }
    const earliest = this.#lastSeqUpTo({ userId, version, limit, behind, inbox })
    const arrived = this.#all('arrivals', userId, readThrough, earliest, version, limit + 1).map(toChange)
    if (arrived.length === behind) return { inbox, ...firstOf(arrived, limit) }
    const later = this.#all('laterChanges', userId, readThrough, version, limit + 1).map(toChange)
    const readAlls = this.#all('readAlls', userId, version, limit + 1).map(toReadAll)
    return { inbox, ...firstOf([...arrived, ...later, ...readAlls], limit) }
  }

  /**
   * A sequence number at or above which everything that arrived after `version` lies, and little else. No more can have
   * arrived than there were changes; if that is more than an answer holds, halving finds it: versions rise with seq.
   */
  #lastSeqUpTo(of: { userId: string; version: number; limit: number; behind: number; inbox: InboxState }): number {
    const { firstSeq, lastSeq } = of.inbox
    let low = Math.max(lastSeq - of.behind, firstSeq - 1)
    let high = lastSeq
    while (high - low > of.limit) {
      const middle = Math.floor((low + high) / 2)
      const version = this.#one('versionAt', of.userId, middle)?.[0] as number
      if (version > of.version) high = middle
      else low = middle
    }
    return low
  }
}
