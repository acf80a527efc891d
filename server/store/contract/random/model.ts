// The inboxes of a few people as plain arrays. For acts one after another the store must return what this model returns.
import assert from 'node:assert/strict'
import { isoAt, type Person, type Seen } from '../world.ts'
import type { Act, Turn } from './acts.ts'

type New = Pick<Seen, 'id' | 'title' | 'category' | 'key'> & { application: string; again: boolean; at: string }
/** `undoable`: what the last read-all made read and an undo would make unread; null if it was undone. */
type Inbox = { version: number; items: Seen[]; undoable?: Set<Seen> | null; categoryThrough: number }
type Result = { userId: string | undefined; id: string; status: string }

export class Model {
  readonly #people: Person[]
  /** Oldest first. */
  readonly #inboxes: Inbox[]
  /** The application of the producer that first sent a notification: keys are unique within it. */
  readonly #applications = new Map<Seen, string>()
  readonly #outcomes = new Map<string, { bodyHash: string; results: Result[] }>()

  constructor(people: Person[]) {
    this.#people = people
    this.#inboxes = people.map(() => ({ version: 0, items: [], categoryThrough: 0 }))
  }

  state(number: number): { version: number; items: Seen[] } {
    const { version, items } = this.#inbox(number)
    return { version, items: items.toReversed() }
  }

  perform(turn: Turn): unknown {
    const { act } = turn
    if (act.kind === 'deliver') return this.#deliver(turn, act)
    const inbox = this.#inbox(act.who)
    if (act.kind === 'list') {
      const listed = inbox.items.filter(({ read }) => act.status === 'all' || !read).toReversed()
      return listed.slice((act.page - 1) * act.limit, act.page * act.limit)
    }
    if (act.kind === 'undo') return undo(inbox, act)
    return mark(inbox, turn, act)
  }

  #deliver({ title, newIds, seconds }: Turn, act: Act & { kind: 'deliver' }): Result[] | 'mismatch' {
    const { key = null, bodyHash = '' } = act.idempotency ?? {}
    const earlier = key === null ? undefined : this.#outcomes.get(key)
    if (earlier !== undefined) return earlier.bodyHash === bodyHash ? earlier.results : 'mismatch'
    const delivered = new Map<number, Result>()
    for (const [index, number] of act.to.entries())
      if (!delivered.has(number))
        delivered.set(number, this.#put(number, { ...act, title, id: newIds[index] ?? '', at: isoAt(seconds) }))
    const results = act.to.map((number) => delivered.get(number) ?? assert.fail('a recipient got no result'))
    if (key !== null) this.#outcomes.set(key, { bodyHash, results })
    return results
  }

  #put(number: number, { id, title, application, category, key, again, at }: New): Result {
    const inbox = this.#inbox(number)
    inbox.version++
    const userId = this.#people[number]?.id
    const earlier =
      key === null
        ? undefined
        : inbox.items.find((one) => one.key === key && this.#applications.get(one) === application)
    const unread = { read: false, readAt: null, archivedAt: null }
    const seq = (inbox.items.at(-1)?.seq ?? 0) + 1
    if (earlier !== undefined) {
      // What moves to another category keeps its read state, and leaves the undo.
      if (earlier.category !== category && earlier.seq <= inbox.categoryThrough) inbox.undoable?.delete(earlier)
      Object.assign(earlier, { title, category, updatedAt: at })
      if (again) {
        Object.assign(earlier, { seq, count: earlier.count + 1, ...unread })
        inbox.undoable?.delete(earlier)
        inbox.items.sort((a, b) => a.seq - b.seq)
      }
      return { userId, id: earlier.id, status: 'updated' }
    }
    const content = { title, body: null, url: null, category, data: null, key, createdAt: at }
    const item = { id, ...content, updatedAt: at, seq, count: 1, ...unread }
    inbox.items.push(item)
    this.#applications.set(item, application)
    return { userId, id, status: 'delivered' }
  }

  #inbox(number: number): Inbox {
    return this.#inboxes[number] ?? assert.fail(`there is no person ${number}`)
  }
}

function undo(inbox: Inbox, { isLate }: { isLate: boolean }): 'done' | 'nothing' {
  if (inbox.undoable === null) return 'done'
  if (inbox.undoable === undefined || isLate) return 'nothing'
  for (const item of inbox.undoable) Object.assign(item, { read: false, readAt: null })
  inbox.undoable = null
  inbox.version++
  return 'done'
}

type Mark = Extract<Act, { kind: 'read' | 'unread' | 'read-all' }>

function mark(inbox: Inbox, { id, seconds }: Turn, act: Mark): 'done' | 'absent' {
  const found = inbox.items.findIndex((item) => item.id === id)
  const isUnbounded = act.kind === 'read-all' && act.through === null
  if (found === -1 && !isUnbounded) return 'absent'
  const first = act.kind === 'read-all' ? 0 : found
  const last = isUnbounded ? inbox.items.length - 1 : found
  const isRead = act.kind !== 'unread'
  const categories = act.kind === 'read-all' ? act.categories : null
  const covered = inbox.items.slice(first, last + 1)
  const named = covered.filter(({ category }) => categories?.includes(category ?? '') ?? true)
  const changed = named.filter(({ read }) => read !== isRead)
  for (const item of changed) Object.assign(item, { read: isRead, readAt: isRead ? isoAt(seconds) : null })
  if (changed.length > 0) inbox.version++
  if (changed.length > 0 && categories !== null)
    inbox.categoryThrough = Math.max(inbox.categoryThrough, covered.at(-1)?.seq ?? 0)
  if (act.kind !== 'read-all') inbox.undoable?.delete(inbox.items[found] as Seen)
  else if (changed.length > 0) inbox.undoable = new Set(changed)
  return 'done'
}
