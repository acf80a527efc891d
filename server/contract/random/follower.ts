// A client that keeps a copy of an inbox by changesSince, as one with a stream does.
import assert from 'node:assert/strict'
import { changesSince, readInbox } from '../../inbox/inbox.store.ts'
import type { Change } from '../../inbox/inbox-state.ts'
import { notificationIn, type Person, type Seen, type World } from '../world.ts'

export class Follower {
  readonly #world: World
  readonly #person: Person
  readonly #items: Map<string, Seen>
  version: number

  private constructor(world: World, person: Person, items: Seen[], version: number) {
    this.#world = world
    this.#person = person
    this.#items = new Map(items.map((item) => [item.id, item]))
    this.version = version
  }

  /** No write may be in progress. */
  static async of(world: World, person: Person): Promise<Follower> {
    const items = await world.list(person)
    return new Follower(
      world,
      person,
      items,
      (await world.store.read(readInbox, person.id)).version,
    )
  }

  /** The store was opened again. */
  on(world: World): Follower {
    return new Follower(world, this.#person, [...this.#items.values()], this.version)
  }

  /** After an undo the copy begins again. */
  async read(limit: number): Promise<Change[]> {
    const changes: Change[] = []
    for (;;) {
      const found = await this.#world.store.read(changesSince, {
        userId: this.#person.id,
        version: this.version,
        limit,
      })
      if (found === 'reset') return this.#beginAgain()
      assert.ok(found.changes.length <= limit)
      for (const change of found.changes) {
        assert.ok(change.version > this.version && change.version <= found.inbox.version)
        this.version = change.version
      }
      changes.push(...found.changes)
      if (!found.more) return changes
      assert.equal(found.changes.length, limit)
    }
  }

  /** Compares the copy with the pages. No write may be in progress. */
  async catchUp(limit: number): Promise<void> {
    const changes = await this.read(limit)
    const pages = await this.#world.list(this.#person)
    const { version } = await this.#world.store.read(readInbox, this.#person.id)
    for (const change of changes) this.#apply(change)
    assert.deepEqual(
      [...this.#items.values()].sort((a, b) => b.seq - a.seq),
      pages,
    )
    assert.ok(this.version <= version)
    this.version = version
  }

  #apply(change: Change): void {
    if ('notification' in change) this.#put(notificationIn(change))
    if (change.type === 'removed') this.#items.delete(change.id)
    if (change.type !== 'read-all' && change.type !== 'archive-read') return
    for (const item of this.#items.values())
      if (item.seq <= change.throughSeq) this.#put(after(change, item))
  }

  async #beginAgain(): Promise<Change[]> {
    const { resetVersion, version } = await this.#world.store.read(readInbox, this.#person.id)
    assert.ok(
      this.version < resetVersion,
      `version ${this.version} was reached, but the store returned 'reset'`,
    )
    this.#items.clear()
    for (const item of await this.#world.list(this.#person)) this.#put(item)
    this.version = version
    return []
  }

  #put(item: Seen): void {
    this.#items.set(item.id, item)
  }
}

/** A notification that a read-all or an archive-read may cover. */
function after(change: Extract<Change, { throughSeq: number }>, item: Seen): Seen {
  if (change.type === 'archive-read') {
    const isCovered = item.read && item.snoozedUntil === null && item.archivedAt === null
    return isCovered ? { ...item, archivedAt: change.at } : item
  }
  const isCovered = !item.read && (change.categories?.includes(item.category ?? '') ?? true)
  return isCovered ? { ...item, read: true, readAt: change.at } : item
}
