// People, deliveries to them (letters), and their inboxes as they see them.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { iso } from '../basics/clock.ts'
import { CarillonError } from '../basics/errors.ts'
import { deliver } from '../delivery/delivery.store.ts'
import type { Delivery, DeliveryOutcome, Recipient } from '../delivery/delivery.ts'
import { BulkActs } from '../inbox/bulk/bulk-acts.ts'
import { readCounts, readNotification, readPage } from '../inbox/inbox.store.ts'
import type { Change, Filter, Page, PageQuery } from '../inbox/inbox-state.ts'
import { type Content, contentOf } from '../inbox/notification-json.ts'
import { addProducer } from '../producers/producers.store.ts'
import {
  addSession,
  type EndedSession,
  endSessions,
  type SessionKey,
} from '../sessions/sessions.store.ts'
import { Upkeep } from '../start/upkeep.ts'
import type { Store } from '../store/store.ts'
import type { Recognition } from '../users/erasure/erased-ids.store.ts'
import { putUsers } from '../users/put-users.store.ts'
import { addUser, findUser } from '../users/users.store.ts'

// Alone, a contract declares no test, which `node --test` reports as a success.
if (process.argv[1]?.endsWith('.contract.ts'))
  throw new Error(
    "A contract runs in the test of an engine: npx node --test --test-name-pattern 'S7' server/store/sqlite/store.test.ts",
  )

/** An engine provides this. */
export type Engine = {
  name: string
  newPlace(): Promise<Place>
  /** Emptying a place raises a change signal later. */
  signalsWhenEmptied?: true
}

type Place = {
  open(): Promise<Store>
  remove(): Promise<void>
  /** If that takes less time than a new place does. */
  empty?: (() => Promise<void>) | undefined
}

/** Each promise is tested on an empty store. */
export type PromiseOf = (title: string, attempt: (world: World) => Promise<void>) => void

export type Person = { id: string; username: string; passwordHash: string }

export type Letter = {
  to: readonly (Person | Recipient)[]
  /** Creates a user for each unknown external id. */
  createsUsers?: boolean
  unknownRecipients?: 'report' | 'refuse'
  erased?: Recognition
  title?: string
  category?: string | null
  data?: Record<string, unknown> | null
  key?: string | null
  renotify?: boolean
  idempotency?: { key: string; bodyHash: string } | null
  producerId?: string
  application?: string
  /** One per recipient; new ids by default. */
  ids?: readonly string[]
  mailUnread?: Delivery['mailUnread']
  /** What the webhooks of the application wait for. */
  watch?: Delivery['watch']
  pushDelayMs?: Delivery['pushDelayMs']
  /** In place of the members above. */
  content?: Content
  at?: number
}

export type Seen = {
  id: string
  title: string
  body: null
  url: null
  category: string | null
  data: Record<string, unknown> | null
  key: string | null
  actor: null
  icon: null
  actions: null
  format: 'text'
  createdAt: string
  updatedAt: string
  expiresAt: string | null
  seq: number
  count: number
  read: boolean
  readAt: string | null
  archivedAt: string | null
  snoozedUntil: string | null
}

/** The delivery said nothing of it. */
export const plainLook = {
  actor: null,
  icon: null,
  actions: null,
  format: 'text' as const,
  priority: 'normal',
}

export function notificationIn(change: Change): Seen {
  return 'notification' in change
    ? JSON.parse(change.notification)
    : assert.fail(`a change ${change.type}`)
}

/** More often with SOAK=1. */
export const runs = (everyday: number, soak = everyday * 20): number =>
  process.env.SOAK === undefined ? everyday : soak

/** In seconds after the start of every test. */
export const at = (seconds: number): number => Date.UTC(2026, 0, 1) + seconds * 1_000
export const isoAt = (seconds: number): string => iso(at(seconds))

/** As the id of a notification: the database refuses its row, and with it the delivery. */
export const refusedId = null as unknown as string

let idsMade = 0
/** Lower than the one before, so that a test fails if the store orders by id. */
export const newId = (): string =>
  `01900000-0000-7000-8000-${(0xffffffffffff - ++idsMade).toString(16)}`

/** With more, a call would wait too long for a connection of PostgreSQL. */
export const maxAtOnce = 50

let worldsMade = 0

type UpkeepParts = ConstructorParameters<typeof Upkeep>[0]
const log = { warn: assert.fail } as unknown as UpkeepParts['log']

type ListOptions = Partial<Filter> & { limit?: number }

export class World {
  store: Store
  readonly producerId = newId()
  readonly #open: () => Promise<Store>
  readonly #number = ++worldsMade

  private constructor(store: Store, open: () => Promise<Store>) {
    this.store = store
    this.#open = open
  }

  /** Its people and its producer are new. */
  static async on(
    store: Store,
    open: () => Promise<Store> = () => assert.fail('cannot reopen'),
  ): Promise<World> {
    const world = new World(store, open)
    await world.addProducer('app', { id: world.producerId })
    return world
  }

  async reopen(): Promise<void> {
    await this.store.close()
    this.store = await this.#open()
  }

  async addUser(name: string, application = ''): Promise<Person> {
    const person = {
      id: newId(),
      username: `${name}-${this.#number}`,
      passwordHash: `hash of ${name}'s password`,
    }
    assert.equal(
      typeof (await this.store.write(addUser, {
        ...person,
        application,
        displayName: null,
        createdAt: at(0),
      })),
      'object',
    )
    return person
  }

  async addUsers(count: number): Promise<Person[]> {
    const people: Person[] = []
    while (people.length < count) {
      const length = Math.min(count - people.length, maxAtOnce)
      people.push(...(await Promise.all(Array.from({ length }, () => this.addUser(newId())))))
    }
    return people
  }

  /** Many in one write. */
  async addRecipients(count: number): Promise<{ userId: string }[]> {
    const users = Array.from({ length: count }, (_, n) => ({
      newId: newId(),
      externalId: `${this.#number}-${n}`,
    }))
    const put = await this.store.write(putUsers, { issuer: '', at: at(0), users })
    return put.map(({ user }) => ({ userId: user.id }))
  }

  async addProducer(
    name: string,
    { id = newId(), createdAt = at(0), application = '' } = {},
  ): Promise<string> {
    const secretHash = `hash of ${id}`
    const key = { id, name, secretHash, scopes: ['send'], createdAt, expiresAt: null }
    await this.store.write(addProducer, { ...key, application })
    return id
  }

  letter({
    to,
    title = 'Hi',
    category = null,
    data = null,
    key = null,
    renotify = false,
    idempotency = null,
    ...rest
  }: Letter): Delivery {
    const moment = rest.at ?? at(0)
    return {
      id: newId(),
      producerId: rest.producerId ?? this.producerId,
      application: rest.application,
      idempotency,
      content: rest.content ?? contentOf({ title, data }),
      category,
      key,
      createdAt: iso(moment),
      renotify,
      recipients: to.map((recipient, index) => ({
        to: 'id' in recipient ? { userId: recipient.id } : recipient,
        // Not `??`: one that is given may be `refusedId`.
        notificationId: rest.ids?.[index] === undefined ? newId() : rest.ids[index],
        ...(rest.createsUsers && { newUserId: newId() }),
      })),
      unknownRecipients: rest.unknownRecipients,
      erased: rest.erased,
      mailUnread: rest.mailUnread,
      watch: rest.watch,
      pushDelayMs: rest.pushDelayMs,
      at: moment,
    }
  }

  async deliver(letter: Letter): Promise<DeliveryOutcome> {
    const outcome = await this.store.write(deliver, this.letter(letter))
    if (outcome === 'mismatch') return assert.fail('the idempotency key was used for another body')
    if (outcome === 'refused') return assert.fail('the key of the producer changed')
    if ('unknown' in outcome) return assert.fail(`the recipients ${outcome.unknown} are unknown`)
    return outcome
  }

  async send(person: Person, title = 'Hi', more: Partial<Letter> = {}): Promise<string> {
    const { results } = await this.deliver({ to: [person], title, ...more })
    return results[0]?.id ?? assert.fail(`${person.username} got no notification`)
  }

  /** The ids are in the order of arrival. */
  async sendTimes(
    count: number,
    person: Person,
    { isKeyed = false, category = null }: { isKeyed?: boolean; category?: string | null } = {},
  ): Promise<string[]> {
    const sent = new Set<string>()
    const send = (id: string) =>
      this.send(person, 'Hi', { ids: [id], key: isKeyed ? id : null, category })
    for (let left = count; left > 0; left -= maxAtOnce) {
      const ids = Array.from({ length: Math.min(left, maxAtOnce) }, newId)
      for (const id of await Promise.all(ids.map(send))) sent.add(id)
    }
    return (await this.ids(person)).filter((id) => sent.has(id)).toReversed()
  }

  /** It becomes the last of `ids`. */
  async sendAgain(person: Person, id: string, ids: readonly string[]): Promise<string[]> {
    await this.send(person, 'Hi again', { key: id, renotify: true })
    return [...ids.filter((other) => other !== id), id]
  }

  /** Runs all steps of a bulk act. */
  bulk: BulkActs['run'] = (step, input) => new BulkActs(this.store).run(step, input)

  /** What the service does without a request. */
  upkeep(seconds: number, limits: UpkeepParts['limits'] = {}): Upkeep {
    const now = () => at(seconds)
    return new Upkeep({ store: this.store, wall: now, aged: async () => now(), log, limits })
  }

  async page(query: PageQuery): Promise<Page> {
    return this.store.read(readPage, query)
  }

  /** Newest first, read page by page. */
  async list(
    person: Person,
    { status = 'all', limit = 100, categories }: ListOptions = {},
  ): Promise<Seen[]> {
    const seen: Seen[] = []
    for (let page = 1; ; page++) {
      const found = await this.page({ userId: person.id, page, limit, status, categories })
      seen.push(...(JSON.parse(found.items) as Seen[]))
      if (found.next === null) return seen
    }
  }

  async ids(person: Person): Promise<string[]> {
    return (await this.list(person)).map(({ id }) => id)
  }

  async titles(person: Person): Promise<string[]> {
    return (await this.list(person)).map(({ title }) => title)
  }

  async find(person: Person, id: string): Promise<Seen | undefined> {
    const text = await this.store.read(readNotification, { userId: person.id, id })
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** To compare before and after. */
  async inboxOf(person: Person) {
    const { inbox, categories } = await this.store.read(readCounts, person.id)
    return { inbox, categories: { ...categories }, items: await this.list(person) }
  }

  async signIn(
    person: Person,
    {
      familyHash = newId(),
      secretHash = newId(),
      replaces = [] as readonly SessionKey[],
      seconds = 0,
      signInId = newId(),
    } = {},
  ) {
    const generation = (await this.store.read(findUser, person.id))?.credentialGeneration ?? 0
    const session = {
      familyHash,
      secretHash,
      userId: person.id,
      checkedGeneration: generation,
      signInId,
      device: null,
      address: null,
      at: at(seconds),
      replaces,
    }
    assert.notEqual(await this.store.write(addSession, session), 'refused')
    return { userId: person.id, familyHash, secretHash }
  }

  endSessions(keys: readonly SessionKey[], { seconds = 0 } = {}): Promise<EndedSession[]> {
    return this.store.write(endSessions, { keys, at: at(seconds) })
  }
}

export function isUnavailable(error: unknown): error is CarillonError {
  return error instanceof CarillonError && error.code === 'UNAVAILABLE'
}

/** One place serves many promises, if the engine can empty it. */
export function promisesOf(engine: Engine): PromiseOf {
  let kept: { place: Place; store: Store } | undefined
  after(async () => {
    await kept?.store.close()
    await kept?.place.remove()
  })
  return (title, attempt) =>
    void test(title, async () => {
      const place = kept?.place ?? (await engine.newPlace())
      const world = await World.on(kept?.store ?? (await place.open()), place.open)
      kept = undefined
      try {
        await attempt(world)
        if (place.empty !== undefined && (await isOpen(world.store))) {
          await place.empty()
          kept = { place, store: world.store }
        }
      } finally {
        if (kept === undefined) {
          await world.store.close()
          await place.remove()
        }
      }
    })
}

function isOpen(store: Store): Promise<boolean> {
  return store.check().then(
    () => true,
    () => false,
  )
}
