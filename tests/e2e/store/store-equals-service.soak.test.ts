// After any acts of several devices, and any failures, each open list equals the list of the
// service. Two tabs of a Chromium share a stream, and a second device has a token. SOAK=1 runs 200
// seeds of 500 acts.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import {
  createCarillon,
  createProducer,
  type NotificationPage,
  type OpenOptions,
} from '../../../client/carillon-client.ts'
import { type HeldList, type ListAct, ListHolder } from '../../../client/testing/list-holder.ts'
import {
  newTab,
  setCookie,
  startBrowser,
  startService,
  tokenOf,
} from '../../../client/testing/tab-browser.ts'
import { type Random, randomFrom } from '../../support/event-source/random.ts'
import type { Proof, TestUser } from '../../support/service.ts'

const service = await startService()
const producer = createProducer({ baseUrl: service.url, key: (await service.producerKey()).key })

const isSoak = process.env.SOAK === '1'
const { seeds, length } = isSoak ? { seeds: 200, length: 500 } : { seeds: 2, length: 120 }
const actsInARow = 12
const browser = await startBrowser()
after(() => browser[Symbol.asyncDispose]())

type Device = {
  open(name: string, options: OpenOptions): Promise<void>
  act(name: string, act: ListAct, how: { random: number; until: string }): Promise<void>
  state(): Promise<HeldList[]>
  connect(isConnected: boolean): Promise<void>
}

function deviceIn(page: Page): Device {
  return {
    open: (name, options) =>
      page.evaluate(([one, how]) => tab.lists.open(one, how), [name, options] as const),
    act: (...args) => page.evaluate((given) => tab.lists.act(...given), args),
    state: () => page.evaluate(() => tab.lists.state()),
    connect: (isConnected) => page.context().setOffline(!isConnected),
  }
}

/** A client in Node. Without a connection, its requests fail, and those that run end. */
function deviceWith(ann: TestUser): Device {
  let cut = new AbortController()
  const fetch = async (url: string, init: RequestInit) => {
    try {
      return await globalThis.fetch(url, {
        ...init,
        signal: AbortSignal.any([cut.signal, init.signal as AbortSignal]),
      })
    } catch (error) {
      throw cut.signal.aborted ? new TypeError('cut') : error
    }
  }
  const lists = new ListHolder(
    createCarillon({ baseUrl: service.url, auth: () => tokenOf(ann), fetch }),
  )
  return {
    open: async (...args) => lists.open(...args),
    act: async (...args) => lists.act(...args),
    state: async () => lists.state(),
    async connect(isConnected) {
      if (isConnected) cut = new AbortController()
      else cut.abort(new TypeError('cut'))
    },
  }
}

const filters: OpenOptions[] = [
  {},
  { limit: 3 },
  { status: 'unread', limit: 4 },
  { status: 'read', limit: 5 },
  { category: 'a', limit: 3 },
  { category: ['a', 'b'], status: 'unread', limit: 4 },
  { category: 'b', status: 'read', limit: 6 },
  { status: 'archived', limit: 3 },
  { status: 'snoozed', limit: 2 },
  { status: 'all', limit: 5 },
  { category: 'a', status: 'archived', limit: 2 },
]

/** Returns the first kind whose number is above `drawn`. */
function kindBelow<Kind extends string>(kinds: Record<Kind, number>, drawn: number): Kind {
  const names = Object.keys(kinds) as Kind[]
  return names.find((name) => drawn < kinds[name]) as Kind
}

class World {
  readonly #random: Random
  readonly #ann: TestUser
  readonly #devices: Device[]
  readonly #proof: Proof
  #names = 0
  #open: { device: Device; name: string }[] = []
  readonly done: string[] = []

  constructor(random: Random, ann: TestUser, devices: Device[], proof: Proof) {
    this.#random = random
    this.#ann = ann
    this.#devices = devices
    this.#proof = proof
  }

  #one<Value>(values: readonly Value[]): Value {
    return values[this.#random.below(values.length)] as Value
  }

  async act(): Promise<void> {
    const drawn = this.#random.below(46)
    const kinds = {
      deliver: 8,
      key: 14,
      again: 18,
      open: 21,
      cut: 22,
      clock: 23,
      list: 40,
      byKey: 42,
      mute: 44,
      expire: 46,
    } as const
    const kind = drawn === 39 && this.#random.draw() < 0.3 ? 'restart' : kindBelow(kinds, drawn)
    this.done.push(await this.#acts[kind]())
  }

  readonly #acts = {
    deliver: async () => this.#deliver(),
    key: async () => this.#deliver({ key: `key ${this.#random.below(8)}` }),
    again: async () => this.#deliver({ key: `key ${this.#random.below(8)}`, again: true }),
    expire: async () => this.#deliver({ expiresAt: this.#soon() }),
    open: async () => this.open(this.#one(this.#devices), this.#one(filters)),
    list: async () => {
      if (this.#open.length === 0) return 'none'
      const { device, name } = this.#one(this.#open)
      const acts: ListAct[] = [
        'read',
        'read',
        'read',
        'markUnread',
        'markUnread',
        'readAll',
        'undo',
        'more',
        'more',
      ]
      acts.push(
        'archive',
        'archive',
        'unarchive',
        'unarchive',
        'snooze',
        'remove',
        'archiveRead',
        'seen',
      )
      acts.push(
        'hold',
        'release',
        'showNewer',
        ...(this.#open.length > 3 ? (['close'] as const) : []),
      )
      const act = this.#one(acts)
      if (act === 'close') this.#open = this.#open.filter((one) => one.name !== name)
      await device.act(name, act, { random: this.#random.draw(), until: this.#soon() })
      return `${act} in ${name}`
    },
    byKey: async () => {
      const key = `key ${this.#random.below(8)}`
      const act = this.#one(['updateByKey', 'removeByKey', 'resolveByKey'])
      // No inbox may have the key.
      if (act === 'updateByKey')
        await producer
          .updateByKey(key, this.#one([{ title: 'Changed' }, { expiresAt: this.#soon() }]))
          .catch(() => {})
      else await producer[act as 'removeByKey'](key).catch(() => {})
      return `${act} ${key}`
    },
    mute: async () => {
      const mutedUntil = this.#one(['forever', null])
      const body = JSON.stringify({ categories: { c: { mutedUntil } } })
      const headers = { ...this.#proof, 'content-type': 'application/json' }
      await service.request('/api/me/preferences', { method: 'PUT', headers, body })
      return `mute ${mutedUntil}`
    },
    cut: async () => {
      const device = this.#one(this.#devices)
      await device.connect(false)
      for (let count = this.#random.below(8); count > 0; count--) await this.act()
      await device.connect(true)
      return 'connected'
    },
    restart: async () => {
      await service.restart()
      return 'restart'
    },
    clock: async () => {
      const ms = this.#one([1, 60_000, 700_000])
      service.pass(ms)
      return `${ms} ms pass`
    },
  }

  async open(device: Device, options: OpenOptions): Promise<string> {
    const name = `${++this.#names}: ${JSON.stringify(options)} on ${this.#devices.indexOf(device)}`
    this.#open.push({ device, name })
    await device.open(name, options)
    return `open ${name}`
  }

  /** The end of a snooze, or of a notification; the service does what is due each second. */
  #soon(): string {
    return new Date(service.now() + this.#one([1_000, 100_000, 3_000_000])).toISOString()
  }

  async #deliver(
    more: { key?: string; again?: boolean; expiresAt?: string } = {},
  ): Promise<string> {
    const category = this.#one(['a', 'b', 'c', undefined])
    await service.deliver({
      to: this.#ann,
      title: `Number ${this.done.length}`,
      ...(category && { category }),
      ...more,
    })
    return `deliver ${JSON.stringify({ category, ...more })}`
  }

  /** Waits until every list equals that of the service, and fails with the first difference. */
  async quiet(ms = 60_000): Promise<void> {
    const deadline = performance.now() + ms
    for (;;) {
      const lists = (await Promise.all(this.#devices.map((device) => device.state()))).flat()
      const wrong = await this.#firstWrong(lists)
      if (!wrong) return
      if (performance.now() > deadline) {
        const { list, expected } = wrong
        assert.deepEqual(
          shownBy(list),
          expected,
          `${list.name} after\n${this.done.slice(-40).join('\n')}`,
        )
        assert.equal(JSON.stringify(shownBy(list)), JSON.stringify(expected))
        assert.equal(list.snapshot.state, 'live', `${list.name}: ${list.snapshot.error}`)
      }
      await sleep(50)
    }
  }

  async #firstWrong(lists: readonly HeldList[]) {
    for (const list of lists) {
      const expected = await this.#expected(list)
      if (
        JSON.stringify(shownBy(list)) !== JSON.stringify(expected) ||
        list.snapshot.state !== 'live'
      )
        return { list, expected }
    }
    return undefined
  }

  async #expected({ options, snapshot }: HeldList) {
    const query = new URLSearchParams(
      [options.category ?? []].flat().map((name) => ['category', name]),
    )
    if (options.status) query.set('status', options.status)
    const count = snapshot.items.length + snapshot.newer.length
    const items: unknown[] = []
    let page: NotificationPage
    do {
      query.set('limit', String(Math.min(100, Math.max(1, count - items.length))))
      page = JSON.parse((await service.get(`/api/notifications?${query}`, this.#proof)).text).data
      items.push(...page.items.slice(0, count - items.length))
      query.set('before', page.next ?? '')
    } while (items.length < count && page.next)
    const { total, unread } = page
    const { unseen } = (await service.get('/api/notifications/counts', this.#proof)).json().data
    return { items, total, unread, unseen, hasMore: total > items.length }
  }
}

function shownBy({ snapshot: { items, newer, total, unread, unseen, hasMore } }: HeldList) {
  return {
    items: [...items, ...newer].sort((a, b) => b.seq - a.seq),
    total,
    unread,
    unseen,
    hasMore,
  }
}

async function run(t: TestContext, seed: number): Promise<void> {
  const random = randomFrom(seed)
  const ann = await service.user()
  await setCookie(browser, await service.signIn(ann, 'stateful'))
  const tabs = [await newTab(browser), await newTab(browser)]
  const device = deviceWith(ann)
  t.after(async () => {
    for (const { name } of await device.state())
      await device.act(name, 'close', { random: 0, until: '' })
    await Promise.all(tabs.map((page) => page.close()))
  })
  const proof = await service.signIn(ann, 'stateful')
  const devices = [...tabs.map(deviceIn), device]
  const world = new World(random, ann, devices, proof)
  for (const one of devices) await world.open(one, {})
  for (let count = 0; count < length; count++) {
    await world.act()
    if (count % actsInARow === actsInARow - 1) await world.quiet()
  }
}

for (let index = 0; index < seeds; index++) {
  const seed = Number(process.env.RANDOM_SEED ?? randomInt(2 ** 32))
  test(`after ${length} random acts of three devices and failures, every open list equals that of the service, RANDOM_SEED=${seed}`, (t) =>
    run(t, seed))
}
