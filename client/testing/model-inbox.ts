// An inbox in memory. Each change returns the event that the service sends for it.
import type { ListStatus } from '../inbox.ts'
import type { Act } from '../store/state.ts'
import type { Notification, NotificationPage, StreamEvent } from '../transport/types.ts'

export type ModelFilter = {
  status?: ListStatus | undefined
  category?: readonly string[] | undefined
  limit: number
}

const plainLook = {
  actor: null,
  icon: null,
  actions: null,
  format: 'text',
  priority: 'normal',
} as const
const isListed = ({ archivedAt, snoozedUntil }: Notification) =>
  archivedAt === null && snoozedUntil === null

export class ModelInbox {
  version = 0
  #seq = 0
  #seenThrough = 0
  readonly items = new Map<string, Notification>()

  get #now(): string {
    return new Date(Date.UTC(2026, 0, 1) + this.version * 1_000).toISOString()
  }

  get counters() {
    const listed = [...this.items.values()].filter(isListed)
    return {
      version: this.version,
      unread: listed.filter(({ read }) => !read).length,
      total: listed.length,
      unseen: listed.filter(({ seq }) => seq > this.#seenThrough).length,
    }
  }

  page(
    { status, category = [], limit }: ModelFilter,
    before = Number.POSITIVE_INFINITY,
  ): NotificationPage {
    const isIn = (one: Notification) =>
      (status === undefined && isListed(one)) ||
      status === 'all' ||
      (status === 'unread' && !one.read) ||
      (status === 'read' && one.read && isListed(one)) ||
      (status === 'archived' && one.archivedAt !== null) ||
      (status === 'snoozed' && one.snoozedUntil !== null)
    const all = [...this.items.values()]
      .filter((one) => isIn(one) && isOf(category, one))
      .sort((a, b) => b.seq - a.seq)
    const below = all.filter(({ seq }) => seq < before)
    const items = below.slice(0, limit)
    const next = below.length > limit ? String(items.at(-1)?.seq) : null
    const { unread, version } = this.counters
    return { items, total: all.length, hasMore: next !== null, unread, version, next }
  }

  deliver(category: string | null, isMuted: boolean): StreamEvent {
    this.version++
    const at = this.#now
    const read = isMuted
      ? { read: true, readAt: at, archivedAt: at }
      : { read: false, readAt: null, archivedAt: null }
    const texts = {
      title: `at ${this.version}`,
      body: null,
      url: null,
      category,
      data: null,
      key: null,
    }
    const one: Notification = {
      id: `n${this.version}`,
      ...texts,
      ...plainLook,
      createdAt: at,
      updatedAt: at,
      expiresAt: null,
      seq: ++this.#seq,
      count: 1,
      ...read,
      snoozedUntil: null,
    }
    return this.#put(isMuted ? 'archived' : 'created', one)
  }

  /** It was sent again, or its snooze has ended. */
  raise(one: Notification): StreamEvent {
    this.version++
    const isWoken = one.snoozedUntil !== null
    const back = {
      read: false,
      readAt: null,
      archivedAt: null,
      snoozedUntil: null,
      seq: ++this.#seq,
    }
    const sent = isWoken ? {} : { updatedAt: this.#now, count: one.count + 1 }
    return this.#put(isWoken ? 'created' : 'replaced', { ...one, ...back, ...sent })
  }

  /** Undefined if it changes nothing. */
  act(act: Exclude<Act, { type: 'undo' }>): StreamEvent | undefined {
    if ('id' in act) return this.#actOnOne(act)
    const before = JSON.stringify([...this.items.values(), this.#seenThrough])
    this.version++
    const at = this.#now
    if (act.type === 'seen') this.#seenThrough = Math.max(this.#seenThrough, act.throughSeq)
    for (const one of this.items.values())
      if (act.type === 'archive-read' && one.read && isListed(one))
        this.items.set(one.id, { ...one, archivedAt: at })
      else if (
        act.type === 'read-all' &&
        !one.read &&
        one.seq <= act.throughSeq &&
        isOf(act.categories, one)
      )
        this.items.set(one.id, { ...one, read: true, readAt: at })
    if (JSON.stringify([...this.items.values(), this.#seenThrough]) === before) {
      this.version--
      return undefined
    }
    const event = { position: `${this.version}-5f3a9c1e`, ...this.counters }
    if (act.type === 'archive-read')
      return { type: act.type, ...event, throughSeq: this.#seq, archivedAt: at }
    if (act.type === 'seen') return { type: act.type, ...event }
    const { throughSeq, categories = [] } = act
    return {
      type: act.type,
      ...event,
      through: null,
      throughSeq,
      readAt: at,
      ...(categories.length > 0 && { categories: [...categories] }),
    }
  }

  #actOnOne(act: Extract<Act, { id: string }>): StreamEvent | undefined {
    const one = this.items.get(act.id)
    if (!one) return undefined
    const at = new Date(Date.UTC(2026, 0, 1) + (this.version + 1) * 1_000).toISOString()
    const read = { read: true, readAt: one.readAt ?? at }
    const isKept = {
      read: one.read,
      unread: !one.read,
      archive: one.archivedAt !== null,
      unarchive: isListed(one),
      snooze: false,
      remove: false,
    }[act.type]
    if (isKept) return undefined
    this.version++
    switch (act.type) {
      case 'read':
        return this.#put('read', { ...one, ...read })
      case 'unread':
        return this.#put('unread', {
          ...one,
          read: false,
          readAt: null,
          archivedAt: null,
          snoozedUntil: null,
        })
      case 'archive':
        return this.#put('archived', { ...one, ...read, archivedAt: at, snoozedUntil: null })
      case 'unarchive':
        return this.#put('unarchived', { ...one, archivedAt: null, snoozedUntil: null })
      case 'snooze':
        return this.#put('snoozed', { ...one, ...read, archivedAt: null, snoozedUntil: act.until })
      case 'remove':
        this.items.delete(one.id)
        return {
          type: 'removed',
          position: `${this.version}-5f3a9c1e`,
          ...this.counters,
          id: one.id,
          reason: 'deleted',
        }
    }
  }

  #put(
    type: 'created' | 'replaced' | 'read' | 'unread' | 'archived' | 'unarchived' | 'snoozed',
    notification: Notification,
  ): StreamEvent {
    this.items.set(notification.id, notification)
    return { type, position: `${this.version}-5f3a9c1e`, ...this.counters, notification }
  }
}

function isOf(categories: readonly string[] | undefined, { category }: Notification): boolean {
  return !categories?.length || categories.includes(category ?? '')
}
