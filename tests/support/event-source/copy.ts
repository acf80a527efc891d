// A copy of an inbox that the events of the stream keep up to date, as an application does.
import assert from 'node:assert/strict'
import type { Listed, Notification } from '../service.ts'
import type { StreamEvent } from './event-source.ts'

export class InboxCopy {
  /** A replaced notification keeps its place; the oldest is first. */
  readonly #items = new Map<string, Notification>()
  version = 0
  unread = 0
  total = 0

  /** Starts with a complete list, newest first. */
  constructor({ items, version }: Pick<Listed, 'items' | 'version'> = { items: [], version: 0 }) {
    for (const item of items.toReversed()) this.#items.set(item.id, item)
    this.version = version
  }

  get items(): Notification[] {
    return [...this.#items.values()].toReversed()
  }

  /** Throws unless the event's version is higher than all before. */
  apply({ type, data, text }: StreamEvent): void {
    const { notification, through, readAt, version } = data
    if (type !== 'hello') {
      assert.ok(version > this.version, `after version ${this.version}: ${text}`)
      Object.assign(this, { version, unread: data.unread, total: data.total })
    }
    if (type === 'created' || type === 'replaced') this.#items.set(notification.id, notification)
    else if (type === 'read' || type === 'unread') {
      assert.ok(this.#items.has(notification.id) && notification.read === (type === 'read'), text)
      this.#items.set(notification.id, notification)
    } else if (type === 'read-all') this.#readThrough(through, readAt)
    else assert.equal(type, 'hello', text)
  }

  #readThrough(through: string, readAt: string): void {
    assert.ok(this.#items.has(through), `${through} was never received`)
    for (const [id, item] of this.#items) {
      if (!item.read) this.#items.set(id, { ...item, read: true, readAt })
      if (id === through) return
    }
  }
}
