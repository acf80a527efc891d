// Random acts on a few inboxes. The stage performs a turn on the store, the model (model.ts) on
// plain arrays.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { changeByKey } from '../../delivery/by-key.ts'
import { deliver } from '../../delivery/delivery.store.ts'
import { archiveRead, markAllRead } from '../../inbox/bulk/bulk.store.ts'
import { undo } from '../../inbox/bulk/undo.store.ts'
import type { Status } from '../../inbox/inbox-state.ts'
import {
  archive,
  markRead,
  markSeen,
  markUnread,
  remove,
  snooze,
  unarchive,
  wake,
} from '../../inbox/marks.store.ts'
import { contentOf } from '../../inbox/notification-json.ts'
import { changePreferences } from '../../preferences/preferences.store.ts'
import type { Upkeep } from '../../start/upkeep.ts'
import type { Write } from '../../store/statements.ts'
import { at, isoAt, newId, type Person, World } from '../world.ts'

/**
 * People are numbers. A notification is named by its person, null for the one who acts, and by how
 * many arrived before it.
 */
type Named = { whose: number | null; nth: number }
type UpkeepParts = ConstructorParameters<typeof Upkeep>[0]
export type Act =
  | {
      kind: 'deliver'
      to: number[]
      application: string
      key: string | null
      renotify: boolean
      category: string | null
      idempotency: { key: string; bodyHash: string } | null
      /** In minutes. */
      expires: number | null
    }
  /** An update gives these besides the title. */
  | {
      kind: 'by-key'
      change: 'update' | 'delete' | 'resolve'
      application: string
      key: string
      category?: string | null
      expires?: number | null
    }
  /** Moves the time, also back. */
  | { kind: 'clock'; minutes: number }
  /** All that the service does without a request. */
  | { kind: 'upkeep'; limits: UpkeepParts['limits'] }
  | { kind: 'restart' }
  | { kind: 'read'; who: number; named: Named }
  | { kind: 'unread' | 'archive' | 'unarchive' | 'remove' | 'seen'; who: number; named: Named }
  /** `minutes`: how long. */
  | { kind: 'snooze'; who: number; named: Named; minutes: number }
  /** If its time has come by then. */
  | { kind: 'wake'; who: number; named: Named; minutes: number }
  | { kind: 'archive-read'; who: number }
  /** `category`: '' for everything. 0 minutes end the mute. */
  | { kind: 'mute'; who: number; category: string; minutes: number }
  | { kind: 'read-all'; who: number; through: Named | null; categories: string[] | null }
  /** `isLate`: more than ten minutes after every act. */
  | { kind: 'undo'; who: number; isLate: boolean }
  | { kind: 'list'; who: number; page: number; limit: number; status: Status }

export const statuses = ['inbox', 'unread', 'read', 'archived', 'snoozed', 'all'] as const
/** So few that acts meet each other's notifications. */
const peopleCount = 2
const theirApplication = 'shop'
const someone = fc.nat(peopleCount - 1)
const mostlyOwn = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: someone },
)
const named = fc.record({ whose: mostlyOwn, nth: fc.nat(5) })
const someMinutes = fc.integer({ min: 1, max: 40 })
const rarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 })

const anyDelivery: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant('deliver'),
  to: fc.array(someone, { minLength: 1, maxLength: 4 }),
  application: fc.constantFrom('', '', theirApplication),
  key: fc.constantFrom('deploy', 'backup', null),
  renotify: fc.boolean(),
  category: rarely(fc.constantFrom('build', 'chat')),
  idempotency: rarely(
    fc.record({ key: fc.constantFrom('k1', 'k2', 'k3'), bodyHash: fc.constantFrom('b1', 'b2') }),
  ),
  expires: rarely(someMinutes),
})
const anyByKey: fc.Arbitrary<Act> = fc.record(
  {
    kind: fc.constant('by-key'),
    change: fc.constantFrom('update', 'update', 'delete', 'resolve'),
    application: fc.constantFrom('', '', theirApplication),
    key: fc.constantFrom('deploy', 'backup'),
    category: fc.constantFrom(null, 'build', 'chat'),
    expires: rarely(someMinutes),
  },
  { requiredKeys: ['kind', 'change', 'application', 'key'] },
)
const anyClock: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant('clock'),
  minutes: fc.constantFrom(-5, -1, 1, 5, 11, 60),
})
const retentionMs = fc.constantFrom(60_000, 600_000, 3_600_000)
const anyUpkeep: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant('upkeep'),
  limits: fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.record({ retentionMs, retentionUnreadMs: retentionMs }, { requiredKeys: [] }),
    },
    { weight: 1, arbitrary: fc.record({ inboxMax: fc.integer({ min: 1, max: 4 }) }) },
  ),
})
const anyRestart: fc.Arbitrary<Act> = fc.constant({ kind: 'restart' })
const anyRead: fc.Arbitrary<Act> = fc.record({ kind: fc.constant('read'), who: someone, named })
const anyUnread: fc.Arbitrary<Act> = fc.record({ kind: fc.constant('unread'), who: someone, named })
const anyMove: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom('archive', 'archive', 'unarchive', 'remove', 'seen'),
  who: someone,
  named,
})
const anySnooze: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom('snooze', 'snooze', 'wake'),
  who: someone,
  named,
  minutes: fc.integer({ min: 1, max: 3 }),
})
const anyMute: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant('mute'),
  who: someone,
  category: fc.constantFrom('', 'build', 'chat'),
  minutes: fc.nat(2),
})
const anyArchiveRead: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant('archive-read'),
  who: someone,
})
const anyUndo: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant('undo'),
  who: someone,
  isLate: fc.nat(9).map((n) => n === 0),
})
const anyReadAll: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant('read-all'),
  who: someone,
  through: rarely(named),
  categories: fc.constantFrom<string[] | null>(
    null,
    ['build'],
    ['chat'],
    ['build', 'chat', 'none'],
  ),
})
const anyList: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant('list'),
  who: someone,
  page: fc.integer({ min: 1, max: 4 }),
  limit: fc.integer({ min: 1, max: 5 }),
  status: fc.constantFrom(...statuses),
})

/** What was read then stays read unless it is sent again. */
export const anyLastingAct: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: anyDelivery },
  { weight: 3, arbitrary: anyRead },
  { weight: 2, arbitrary: anyReadAll },
  { weight: 1, arbitrary: anyList },
)
export const anyAct: fc.Arbitrary<Act> = fc.oneof(
  { weight: 22, arbitrary: anyLastingAct },
  { weight: 3, arbitrary: anyUnread },
  { weight: 5, arbitrary: anyUndo },
  { weight: 6, arbitrary: anyMove },
  { weight: 5, arbitrary: anySnooze },
  { weight: 4, arbitrary: anyArchiveRead },
  { weight: 2, arbitrary: anyMute },
  { weight: 4, arbitrary: anyByKey },
  { weight: 3, arbitrary: anyClock },
  { weight: 4, arbitrary: anyUpkeep },
)
export const anyActOrRestart: fc.Arbitrary<Act> = fc.oneof(
  { weight: 50, arbitrary: anyAct },
  { weight: 1, arbitrary: anyRestart },
)

type Move = Extract<Act, { named: Named }>
const isMove = (act: Act): act is Move => 'named' in act

/** People and ids take the place of numbers. No other inbox of the store has its `key`. */
export type Turn = {
  act: Act
  number: number
  seconds: number
  title: string
  key: string | null
  person: Person
  id: string
  newIds: string[]
}

export function mutedUntil({ seconds }: Turn, { minutes }: { minutes: number }): string | null {
  return minutes === 0 ? null : isoAt(seconds + minutes * 10)
}

/** Each snooze ends at its own time. */
export function endOfSnooze({ seconds, number }: Turn, { minutes }: { minutes: number }): number {
  return at(seconds + minutes * 10) + number
}

export const expiryOf = ({ seconds }: Turn, minutes: number | null) =>
  minutes === null ? null : isoAt(seconds + minutes * 60)

export class Stage {
  readonly world: World
  readonly #outer: World
  readonly people: Person[]
  readonly #arrived: string[][]
  #seconds = 0
  #turns = 0

  private constructor(world: World, people: Person[], outer: World) {
    this.world = world
    this.#outer = outer
    this.people = people
    this.#arrived = people.map(() => [])
  }

  static async of(outer: World): Promise<Stage> {
    const world = await World.on(outer.store)
    const people = []
    for (let number = 0; number < peopleCount; number++)
      people.push(await world.addUser(`person ${number}`, theirApplication))
    return new Stage(world, people, outer)
  }

  turn(act: Act): Turn {
    const number = ++this.#turns
    this.#seconds += act.kind === 'clock' ? act.minutes * 60 : 1
    const through = act.kind === 'read-all' ? act.through : null
    const name = 'named' in act ? act.named : through
    const who = 'who' in act ? act.who : 0
    const key = 'key' in act ? act.key : null
    return {
      act,
      number,
      seconds: this.#seconds,
      title: `no. ${number}`,
      key: key && `${key} ${this.world.producerId}`,
      person: this.#person(who),
      id: (name && this.#arrived[name.whose ?? who]?.[name.nth]) ?? newId(),
      newIds: act.kind === 'deliver' ? act.to.map(newId) : [],
    }
  }

  async perform(turn: Turn): Promise<unknown> {
    const { act, person, id, seconds } = turn
    const { store } = this.world
    const owned = { userId: person.id, at: at(seconds) }
    if (act.kind === 'deliver') return this.#deliver(turn, act)
    if (isMove(act)) return this.#move(turn, act)
    if (act.kind === 'by-key') return this.#changeByKey(turn, act)
    if (act.kind === 'clock') return undefined
    if (act.kind === 'restart') return this.#restart()
    if (act.kind === 'upkeep') {
      const upkeep = this.world.upkeep(seconds, act.limits)
      await upkeep.turn()
      return upkeep.sweep()
    }
    if (act.kind === 'archive-read') return store.write(archiveRead, owned)
    if (act.kind === 'mute') {
      const choices = [{ category: act.category, mutedUntil: mutedUntil(turn, act) }]
      return store.write(changePreferences, { userId: person.id, choices, now: isoAt(seconds) })
    }
    if (act.kind === 'undo')
      return store.write(undo, { userId: person.id, at: at(seconds + (act.isLate ? 1_000 : 0)) })
    if (act.kind === 'read-all') {
      const { categories } = act
      return store.write(markAllRead, {
        ...owned,
        throughId: act.through && id,
        ...(categories && { categories }),
      })
    }
    return JSON.parse((await this.world.page({ ...act, userId: person.id })).items)
  }

  async #move(turn: Turn, act: Move): Promise<unknown> {
    const { person, id, seconds } = turn
    const { store } = this.world
    const one = { userId: person.id, at: at(seconds), id }
    if (act.kind === 'seen')
      return store.write(markSeen, { userId: person.id, throughSeq: await this.#seqOf(person, id) })
    if (act.kind === 'snooze') return store.write(snooze, { ...one, until: endOfSnooze(turn, act) })
    const moves = { read: markRead, unread: markUnread, archive, unarchive, remove, wake }
    return store.write(moves[act.kind] as (input: typeof one) => Write<unknown>, one)
  }

  /** Or far above all. */
  async #seqOf(person: Person, id: string): Promise<number> {
    return (await this.world.find(person, id))?.seq ?? 1_000
  }

  async #restart(): Promise<void> {
    await this.#outer.reopen()
    this.world.store = this.#outer.store
  }

  /** Returns the outcome, or the code of its error. */
  #changeByKey(turn: Turn, act: Act & { kind: 'by-key' }): Promise<unknown> {
    const { title, seconds, key } = turn
    const { category, expires } = act
    const given = {
      title,
      ...(category !== undefined && { category }),
      ...(expires !== undefined && { expiresAt: expiryOf(turn, expires) }),
    }
    const { store, producerId } = this.world
    return changeByKey(
      { store, wall: () => at(seconds), imageHosts: [] },
      {
        producerId,
        application: act.application,
        key: key ?? '',
        kind: act.change,
        given: act.change === 'update' ? JSON.stringify(given) : null,
      },
    ).catch((error) => error.code ?? Promise.reject(error))
  }

  async #deliver(turn: Turn, act: Act & { kind: 'deliver' }): Promise<unknown> {
    const { newIds: ids, title, seconds, key } = turn
    const to = act.to.map((number) => this.#person(number))
    const outcome = await this.world.store.write(
      deliver,
      this.world.letter({
        ...act,
        to,
        ids,
        key,
        at: at(seconds),
        content: contentOf({ title, expiresAt: expiryOf(turn, act.expires) }),
      }),
    )
    if (typeof outcome === 'string' || 'unknown' in outcome) return outcome
    for (const [index, { id, status }] of outcome.results.entries()) {
      const arrived = this.#arrived[act.to[index] ?? 0]
      if (status !== 'updated' && id !== null && !arrived?.includes(id)) arrived?.push(id)
    }
    return outcome.results
  }

  #person(number: number): Person {
    return this.people[number] ?? assert.fail(`there is no person ${number}`)
  }
}
