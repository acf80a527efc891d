// The code of docs/inbox/keep-a-list.js keeps a list by what the API sends.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  codeFor,
  type DocumentedCode,
  type KeptList,
} from '../../support/event-source/documented-list.ts'
import { EventReader, streamPath } from '../../support/event-source/event-source.ts'
import { type Random, randomOf } from '../../support/event-source/random.ts'
import { type Proof, startTestService, type TestUser } from '../../support/service.ts'

const soak = process.env.SOAK !== undefined
const rounds = soak ? 500 : 120
const actsPerRound = 4

const app = await startTestService({ env: { CARILLON_STREAMS_PER_USER: '100' } })
after(() => app.stop())

/** It shows the newest `length` notifications. */
class Device {
  readonly proof: Proof
  readonly length: number
  readonly #code: DocumentedCode
  #list: KeptList = { items: [], unread: 0, total: 0, version: 0 }
  #position = ''
  #reader: EventReader | undefined
  #taken = 0
  requests = 0

  private constructor(proof: Proof, length: number, code: DocumentedCode) {
    this.proof = proof
    this.length = length
    this.#code = code
  }

  static async open(proof: Proof, length: number): Promise<Device> {
    const device = new Device(proof, length, codeFor(length))
    await device.#requestList()
    device.#position = String(device.#list.version)
    await device.connect()
    return device
  }

  get items() {
    return this.#list.items
  }

  async connect(): Promise<void> {
    this.#reader = await EventReader.open(app.url, {
      path: `${streamPath}?since=${this.#position}`,
      headers: this.proof,
    })
    this.#taken = 0
  }

  /** Before all that was sent is read. */
  cut(): void {
    this.#reader?.close()
    this.#reader = undefined
  }

  async handle(): Promise<void> {
    const { events = [] } = this.#reader ?? {}
    while (this.#taken < events.length) {
      const { type, id, data } = events[this.#taken++] ?? assert.fail()
      if (id !== undefined) this.#position = id
      if (!this.#code.applyEvent(this.#list, type, data)) await this.#requestList()
    }
  }

  /** Without a stream. */
  async poll(limit: number): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const response = await app.get(
        `/api/notifications/changes?since=${this.#position}&limit=${limit}`,
        this.proof,
      )
      const { data } = response.json()
      if (!this.#code.applyChanges(this.#list, data)) await this.#requestList()
      this.#position = data.position ?? String(this.#list.version)
      hasMore = data.hasMore ?? false
    }
  }

  /** No change may be in progress. */
  async compare(): Promise<void> {
    const { text, json } = await responseFor(this)
    const { data } = json()
    const counts = (await app.get('/api/notifications/counts', this.proof)).json().data
    assert.deepEqual([counts.total, counts.unread], [data.total, data.unread])
    await this.#catchUp(data.version)
    assert.equal(JSON.stringify({ success: true, data: { ...data, ...this.#list } }), text)
  }

  async #catchUp(version: number): Promise<void> {
    if (this.#reader === undefined) await this.connect()
    const reader = this.#reader ?? assert.fail()
    while (this.#list.version < version) {
      await reader.until(() => reader.events.length > this.#taken, 60_000, `version ${version}`)
      assert.ok(!reader.isOver, 'the stream ended')
      await this.handle()
    }
  }

  async #requestList(): Promise<void> {
    this.requests++
    const { items, unread, total, version } = (await responseFor(this)).json().data
    this.#list = { items, unread, total, version }
  }
}

function responseFor({ proof, length }: Device) {
  return app.get(`/api/notifications?limit=${length}`, proof)
}

function changesOf(ann: TestUser, devices: readonly Device[], random: Random) {
  const device = () => devices[random.below(devices.length)] ?? assert.fail()
  /** The devices differ, so some notifications are no longer where a device shows them. */
  const any = ({ items }: Device) => items[random.below(items.length)]?.id
  /** `left`: the requests that take something out of a list. */
  const count = { undos: 0, left: 0 }
  const away: string[] = []
  let sent = 0
  const send = (more = {}) =>
    app.deliver({ to: ann, title: `No. ${++sent}`, body: 'Ünïcödé 🔔', data: { sent }, ...more })
  const key = () => `key ${random.below(12)}`
  const readAll = (query: string, { proof }: Device) =>
    app.post(`/api/notifications/read-all${query}`, undefined, proof)
  const acts = [
    () => send(),
    () => send(),
    () => send({ key: key() }),
    () => send({ key: key(), renotify: true }),
    async (on = device()) => {
      const id = any(on)
      if (id) await app.patch(`/api/notifications/${id}/read`, on.proof)
    },
    async (on = device()) => {
      const id = any(on)
      if (id) await app.patch(`/api/notifications/${id}/unread`, on.proof)
    },
    async (on = device()) => {
      const id = any(on)
      if (!id) return
      count.left++
      const what = random.below(4)
      if (what === 0) await app.delete(`/api/notifications/${id}`, on.proof)
      else away.push(id)
      const until = new Date(app.now() + 3_600_000).toISOString()
      if (what === 1) await app.patch(`/api/notifications/${id}/snooze`, on.proof, { until })
      if (what > 1) await app.patch(`/api/notifications/${id}/archive`, on.proof)
    },
    async ({ proof } = device()) => {
      const id = away[random.below(away.length)]
      const back = random.draw() < 0.5 ? 'unarchive' : 'unread'
      if (id && random.draw() < 0.7) await app.patch(`/api/notifications/${id}/${back}`, proof)
    },
    async ({ proof } = device()) => {
      if (random.draw() < 0.5)
        return app.post('/api/notifications/seen', { throughSeq: random.below(sent + 1) }, proof)
      if (random.draw() < 0.2) return
      count.left++
      return app.post('/api/notifications/archive-read', undefined, proof)
    },
    async ({ proof } = device()) => {
      if (
        random.draw() < 0.1 &&
        (await app.post('/api/notifications/undo', undefined, proof)).status === 204
      )
        count.undos++
    },
    async (on = device()) => {
      const id = any(on)
      if (id && random.draw() < 0.5) await readAll(`?through=${id}`, on)
      else if (random.draw() < 0.2) await readAll('', on)
    },
  ]
  return { acts, count }
}

async function disturb(device: Device, random: Random): Promise<void> {
  const what = random.below(8)
  if (what < 3) device.cut()
  if (what === 1) await device.poll(1 + random.below(10))
  if (what === 2) await device.connect()
  if (what > 2) await device.handle()
}

test('a list that the documented code keeps from list, changes and events equals the response byte for byte, on two tabs and a second device', async (t) => {
  const random = randomOf(t)
  const ann = await app.user()
  const cookie = await app.signIn(ann, 'stateful')
  const token = await app.signIn(ann, 'stateless')
  const devices = await Promise.all([
    Device.open(cookie, 20),
    Device.open(cookie, 5),
    Device.open(token, 100),
  ])
  const { acts: changes, count } = changesOf(ann, devices, random)
  let compared = 0
  for (let round = 0; round < rounds; round++) {
    const acts = Array.from({ length: actsPerRound }, () =>
      changes[random.below(changes.length)]?.(),
    )
    if (random.draw() < 0.5) await acts[0]
    for (const device of devices) await disturb(device, random)
    await Promise.all(acts)
    app.pass(1)
    if (random.draw() < 0.5) continue
    for (const device of devices) await device.compare()
    compared++
  }
  for (const device of devices) device.cut()
  t.diagnostic(
    `${rounds * actsPerRound} changes, ${count.undos} of them undos, ${compared} comparisons`,
  )
  for (const { requests } of devices)
    assert.ok(
      requests <= 1 + count.undos + count.left,
      'a list was requested again without a reason',
    )
})
