// A model of arrays. If acts follow one another, the store must return what the model returns.
import assert from 'node:assert/strict'
import { iso } from '../../basics/clock.ts'
import type { Status } from '../../inbox/inbox-state.ts'
import { isoAt, at as msAt, type Person, plainLook, type Seen } from '../world.ts'
import { type Act, endOfSnooze, expiryOf, mutedUntil, type Turn } from './acts.ts'

type New = Pick<Seen, 'id' | 'title' | 'category' | 'key' | 'expiresAt'> & {
  application: string
  renotify: boolean
  at: string
}
/** `undoable`: what an undo would take back; null if it was undone. */
type Inbox = {
  version: number
  /** Oldest first. */
  items: Seen[]
  lastSeq: number
  seenThrough: number
  removed: Set<string>
  undoable?: { kind: 'read-all' | 'archive-read'; items: Set<Seen>; seconds: number } | null
  /** By category; '' for everything. */
  mutes: Map<string, string>
}
type Result = { userId: string | undefined; id: string; status: string }

export class Model {
  readonly #people: Person[]
  readonly #inboxes: Inbox[]
  /** Keys are unique within the application of the first producer. */
  readonly #applications = new Map<Seen, string>()
  readonly #outcomes = new Map<string, { bodyHash: string; results: Result[] }>()

  constructor(people: Person[]) {
    this.#people = people
    this.#inboxes = people.map(() => ({
      version: 0,
      items: [],
      lastSeq: 0,
      seenThrough: 0,
      removed: new Set<string>(),
      mutes: new Map<string, string>(),
    }))
  }

  state(number: number): { version: number; unseen: number; items: Seen[] } {
    const { version, items, seenThrough } = this.#inbox(number)
    const unseen = items.filter((item) => placeOf(item) === 'list' && item.seq > seenThrough).length
    return { version, unseen, items: items.toReversed() }
  }

  perform(turn: Turn): unknown {
    const { act } = turn
    if (!('who' in act)) return this.#performOnAll(turn, act)
    const inbox = this.#inbox(act.who)
    if (act.kind === 'list') {
      const listed = inbox.items.filter((item) => hasStatus(item, act.status)).toReversed()
      return listed.slice((act.page - 1) * act.limit, act.page * act.limit)
    }
    if (act.kind === 'mute') {
      inbox.mutes.set(act.category, mutedUntil(turn, act) ?? '')
      for (const [category, until] of inbox.mutes)
        if (until <= isoAt(turn.seconds)) inbox.mutes.delete(category)
      return 'done'
    }
    if (act.kind === 'undo') return undo(inbox, turn, act)
    if (act.kind === 'archive-read') return archiveRead(inbox, turn)
    if (act.kind === 'read' || act.kind === 'read-all') return mark(inbox, turn, act)
    return move(inbox, turn, act)
  }

  #performOnAll(turn: Turn, act: Exclude<Act, { who: number }>): unknown {
    if (act.kind === 'deliver') return this.#deliver(turn, act)
    if (act.kind === 'by-key') return this.#changeByKey(turn, act)
    if (act.kind === 'upkeep') for (const inbox of this.#inboxes) keepUp(inbox, turn, act)
    return undefined
  }

  #changeByKey(
    turn: Turn,
    act: Act & { kind: 'by-key' },
  ): { inboxes: number; isDone: true } | 'NOT_FOUND' {
    const found = this.#inboxes.flatMap((inbox) => {
      const item = this.#keyed(inbox, turn.key, act.application)
      return item === undefined ? [] : [{ inbox, item }]
    })
    // If the clock went back, the change is as late as what it changes.
    const seconds = Math.max(turn.seconds, ...found.map(({ item }) => secondsOf(item.updatedAt)))
    for (const { inbox, item } of found) {
      if (act.change === 'delete') change(inbox, item, 'remove', { seconds })
      if (act.change === 'resolve') archive(inbox, item, { seconds })
      if (act.change !== 'update') continue
      const { category = item.category, expires } = act
      replace(item, {
        title: turn.title,
        category,
        at: isoAt(seconds),
        expiresAt: expires === undefined ? item.expiresAt : expiryOf(turn, expires),
      })
      inbox.version++
    }
    return found.length === 0 ? 'NOT_FOUND' : { inboxes: found.length, isDone: true }
  }

  #keyed({ items }: Inbox, key: string | null, application: string): Seen | undefined {
    return items.find(
      (one) => key !== null && one.key === key && this.#applications.get(one) === application,
    )
  }

  #deliver(turn: Turn, act: Act & { kind: 'deliver' }): Result[] | 'mismatch' {
    const { title, newIds, seconds } = turn
    const sent = {
      ...act,
      title,
      key: turn.key,
      at: isoAt(seconds),
      expiresAt: expiryOf(turn, act.expires),
    }
    const { key = null, bodyHash = '' } = act.idempotency ?? {}
    const earlier = key === null ? undefined : this.#outcomes.get(key)
    if (earlier !== undefined) return earlier.bodyHash === bodyHash ? earlier.results : 'mismatch'
    const delivered = new Map<number, Result>()
    for (const [index, number] of act.to.entries())
      if (!delivered.has(number))
        delivered.set(number, this.#put(number, { ...sent, id: newIds[index] ?? '' }))
    const results = act.to.map(
      (number) => delivered.get(number) ?? assert.fail('a recipient got no result'),
    )
    if (key !== null) this.#outcomes.set(key, { bodyHash, results })
    return results
  }

  #put(
    number: number,
    { id, title, application, category, key, renotify, at, expiresAt }: New,
  ): Result {
    const inbox = this.#inbox(number)
    inbox.version++
    const userId = this.#people[number]?.id
    const earlier = this.#keyed(inbox, key, application)
    const isMuted = ['', category ?? ''].some((name) => (inbox.mutes.get(name) ?? '') > at)
    const time = isMuted ? at : null
    const arrival = { read: isMuted, readAt: time, archivedAt: time, snoozedUntil: null }
    const seq = inbox.lastSeq + 1
    if (earlier === undefined || renotify) inbox.lastSeq = seq
    if (earlier !== undefined) {
      replace(earlier, { title, category, at, expiresAt })
      if (renotify) {
        Object.assign(earlier, { seq, count: earlier.count + 1, ...arrival })
        leaveUndo(inbox, earlier)
        inbox.items.sort((a, b) => a.seq - b.seq)
      }
      return { userId, id: earlier.id, status: renotify && isMuted ? 'muted' : 'updated' }
    }
    const content = { title, body: null, url: null, category, data: null, key }
    const times = { createdAt: at, updatedAt: at, expiresAt }
    const item = { id, ...content, ...plainLook, ...times, seq, count: 1, ...arrival }
    inbox.items.push(item)
    this.#applications.set(item, application)
    return { userId, id, status: isMuted ? 'muted' : 'delivered' }
  }

  #inbox(number: number): Inbox {
    return this.#inboxes[number] ?? assert.fail(`there is no person ${number}`)
  }
}

const secondsOf = (time: string) => (Date.parse(time) - msAt(0)) / 1_000

function placeOf({ archivedAt, snoozedUntil }: Seen): 'list' | 'archived' | 'snoozed' {
  if (snoozedUntil !== null) return 'snoozed'
  return archivedAt === null ? 'list' : 'archived'
}

export function hasStatus(item: Seen, status: Status): boolean {
  if (status === 'all') return true
  if (status === 'archived' || status === 'snoozed') return placeOf(item) === status
  return placeOf(item) === 'list' && (status === 'inbox' || item.read === (status === 'read'))
}

function replace(
  item: Seen,
  { title, category, expiresAt, at }: Pick<New, 'title' | 'category' | 'expiresAt' | 'at'>,
) {
  Object.assign(item, { title, category, expiresAt, updatedAt: at })
}

function leaveUndo({ undoable }: Inbox, item: Seen, kind = undoable?.kind): void {
  if (undoable?.kind === kind) undoable?.items.delete(item)
}

function undo(inbox: Inbox, turn: Turn, { isLate }: { isLate: boolean }): 'done' | 'nothing' {
  if (inbox.undoable === null) return 'done'
  if (inbox.undoable === undefined) return 'nothing'
  const { kind, items, seconds } = inbox.undoable
  if (turn.seconds + (isLate ? 1_000 : 0) - seconds > 600) return 'nothing'
  for (const item of items)
    Object.assign(item, kind === 'read-all' ? { read: false, readAt: null } : { archivedAt: null })
  inbox.undoable = null
  inbox.version++
  return 'done'
}

function archiveRead(inbox: Inbox, { seconds }: Turn): 'done' {
  const items = new Set(inbox.items.filter((item) => item.read && placeOf(item) === 'list'))
  if (items.size === 0) return 'done'
  for (const item of items) item.archivedAt = isoAt(seconds)
  inbox.undoable = { kind: 'archive-read', items, seconds }
  inbox.version++
  return 'done'
}

type Move = Extract<
  Act,
  { kind: 'unread' | 'archive' | 'unarchive' | 'remove' | 'seen' | 'snooze' | 'wake' }
>

function move(inbox: Inbox, turn: Turn, act: Move): 'done' | 'absent' | boolean | undefined {
  const { id } = turn
  const item = inbox.items.find((one) => one.id === id)
  if (act.kind === 'seen') return see(inbox, item?.seq ?? inbox.lastSeq)
  if (item === undefined && act.kind !== 'wake')
    return act.kind === 'remove' && inbox.removed.has(id) ? 'done' : 'absent'
  const until = act.kind === 'snooze' ? endOfSnooze(turn, act) : undefined
  const isChanged =
    item !== undefined &&
    (act.kind === 'archive'
      ? archive(inbox, item, turn)
      : change(inbox, item, act.kind, turn, until))
  return act.kind === 'wake' ? isChanged : 'done'
}

function archive(inbox: Inbox, item: Seen, turn: { seconds: number }): boolean {
  leaveUndo(inbox, item)
  return change(inbox, item, 'archive', turn)
}

/** False if nothing changes. */
function change(
  inbox: Inbox,
  item: Seen,
  kind: keyof typeof moves,
  { seconds }: { seconds: number },
  until = msAt(seconds),
): boolean {
  if (!moves[kind](inbox, item, { seconds, until: iso(until) })) return false
  leaveUndo(inbox, item)
  inbox.version++
  return true
}

/** What has expired, then snoozes in their order, then what is too old or too many. */
function keepUp(inbox: Inbox, turn: Turn, { limits }: Act & { kind: 'upkeep' }): void {
  const now = msAt(turn.seconds)
  const isDue = (time: string | null) => time !== null && time <= iso(now)
  const remove = (items: readonly Seen[]) =>
    items.map((item) => change(inbox, item, 'remove', turn))
  remove(inbox.items.filter((item) => isDue(item.expiresAt)))
  const woken = inbox.items.filter((item) => isDue(item.snoozedUntil))
  const until = ({ snoozedUntil }: Seen) => Date.parse(snoozedUntil ?? '')
  for (const item of woken.sort((a, b) => until(a) - until(b))) change(inbox, item, 'wake', turn)
  const { retentionMs = Number.POSITIVE_INFINITY, retentionUnreadMs = retentionMs } = limits
  const isUnread = (item: Seen) => !item.read || item.snoozedUntil !== null
  remove(
    inbox.items.filter(
      (item) =>
        item.snoozedUntil === null &&
        Date.parse(item.updatedAt) < now - (isUnread(item) ? retentionUnreadMs : retentionMs),
    ),
  )
  const byWorth = [
    ...inbox.items.filter((item) => !isUnread(item)),
    ...inbox.items.filter(isUnread),
  ]
  remove(byWorth.slice(0, Math.max(0, byWorth.length - (limits.inboxMax ?? byWorth.length))))
}

function see(inbox: Inbox, seq: number): undefined {
  const through = Math.min(seq, inbox.lastSeq)
  if (through > inbox.seenThrough) inbox.version++
  inbox.seenThrough = Math.max(through, inbox.seenThrough)
}

const inTheList = { archivedAt: null, snoozedUntil: null }
const unread = { read: false, readAt: null }
const readSince = (item: Seen, seconds: number) => ({
  read: true,
  readAt: item.readAt ?? isoAt(seconds),
})

/** False if nothing changes. */
const moves: Record<
  Exclude<Move['kind'], 'seen'>,
  (inbox: Inbox, item: Seen, when: When) => unknown
> = {
  unread: (_, item) => item.read && Object.assign(item, inTheList, unread),
  unarchive: (_, item) => placeOf(item) !== 'list' && Object.assign(item, inTheList),
  archive: (_, item, { seconds }) =>
    placeOf(item) !== 'archived' &&
    Object.assign(item, readSince(item, seconds), {
      archivedAt: isoAt(seconds),
      snoozedUntil: null,
    }),
  snooze(_, item, { seconds, until: snoozedUntil }) {
    if (item.snoozedUntil === snoozedUntil) return false
    return Object.assign(item, readSince(item, seconds), { archivedAt: null, snoozedUntil })
  },
  wake(inbox, item, { seconds }) {
    if (item.snoozedUntil === null || item.snoozedUntil > isoAt(seconds)) return false
    Object.assign(item, inTheList, unread, { seq: ++inbox.lastSeq })
    return inbox.items.sort((a, b) => a.seq - b.seq)
  },
  remove(inbox, item) {
    inbox.items.splice(inbox.items.indexOf(item), 1)
    return inbox.removed.add(item.id)
  },
}
/** `until`: of a snooze. */
type When = { seconds: number; until: string }

type Mark = Extract<Act, { kind: 'read' | 'read-all' }>

function mark(inbox: Inbox, { id, seconds }: Turn, act: Mark): 'done' | 'absent' {
  const found = inbox.items.findIndex((item) => item.id === id)
  const isUnbounded = act.kind === 'read-all' && act.through === null
  if (found === -1 && !isUnbounded) return 'absent'
  const first = act.kind === 'read-all' ? 0 : found
  const last = isUnbounded ? inbox.items.length - 1 : found
  const categories = act.kind === 'read-all' ? act.categories : null
  const covered = inbox.items.slice(first, last + 1)
  const named = covered.filter(({ category }) => categories?.includes(category ?? '') ?? true)
  const changed = named.filter(({ read }) => !read)
  for (const item of changed) Object.assign(item, { read: true, readAt: isoAt(seconds) })
  if (changed.length > 0) inbox.version++
  if (act.kind !== 'read-all') leaveUndo(inbox, inbox.items[found] as Seen, 'read-all')
  else if (changed.length > 0)
    inbox.undoable = { kind: 'read-all', items: new Set(changed), seconds }
  return 'done'
}
