// Claims due rows of one channel, and sends four of a host at once. No row waits for another host.
// Content is read when a row is sent. Failed rows wait, each time twice as long, for a day at most.
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { withoutControls } from '../basics/control-characters.ts'
import { counts } from '../basics/counts.ts'
import { CarillonError, messageOf } from '../basics/errors.ts'
import { newOrderedId } from '../basics/ids.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { Store } from '../store/store.ts'
import type { Channel, OutboxRow } from './outbox.store.ts'
import * as stored from './outbox.store.ts'

export type RowKind = {
  /**
   * Does nothing if no reason is left. Throws TOO_MANY_REQUESTS if the row has to wait. If it
   * fails, what it has set in `ids` is stored.
   */
  deliver: (row: OutboxRow) => Promise<void>
  /** A row's longest wait; by default a day. */
  maxAgeMs?: number
  /** The row is too old, or its target refused it for good. */
  givenUp?: (row: OutboxRow, isRefused: boolean) => Promise<void>
}

export class Refused extends Error {}

type Options = {
  store: Store
  channel: Channel
  now: () => number
  random: () => number
  log: Log
  /** Without it, a queue is a host. */
  hostOf?: (queue: string) => string
  /** An owner gets at most `maxOfOwner` places. */
  ownerOf?: (queue: string) => string | undefined
  /** Now nothing is sent to it. */
  isPaused?: (queue: string) => boolean
}
type Row = OutboxRow & { holder: number }
type Host = { waiting: Row[]; sending: Map<Promise<void>, Row> }

const everyMs = 1_000
/** A mailer has as many connections to one host (mail.ts). */
const atOnce = 4
const maxOfHost = 2 * atOnce
const maxOfOwner = 16
const maxHosts = 250
const dayMs = 24 * 3_600_000
const firstDelayMs = 30_000
const maxDelayMs = 3_600_000
/** A mail server may send a long text, or U+0000, which PostgreSQL does not store. */
const maxReason = 300
const logEveryMs = 60_000

export class Outbox {
  readonly #options: Options
  readonly #kinds = new Map<string, RowKind>()
  readonly #hosts = new Map<string, Host>()
  readonly #logged = new LogWindow(logEveryMs, () => {})
  #timer: NodeJS.Timeout | undefined
  #claiming: Promise<void> | undefined
  /** True at the start, as on SQLite the process before had the same number. */
  #hasLostRows = true
  /** 'again': a row was added while rows were claimed. */
  #state: 'stopped' | 'idle' | 'again' = 'stopped'

  constructor(options: Options) {
    this.#options = options
  }

  register(kind: string, how: RowKind): void {
    this.#kinds.set(kind, how)
  }

  async add(row: Omit<stored.NewRow, 'id' | 'channel'>): Promise<void> {
    const { store, channel } = this.#options
    await store.write(stored.addToOutbox, { ...row, channel, id: newOrderedId(row.at) })
    this.wake()
  }

  async join({
    joined,
    ...row
  }: Omit<stored.NewRow, 'id' | 'ids' | 'channel'> & { joined: string }): Promise<void> {
    const { store, channel } = this.#options
    await store.write(stored.joinOutbox, {
      ...row,
      joined: [joined],
      channel,
      id: newOrderedId(row.at),
    })
    this.wake()
  }

  start(): void {
    this.#state = 'idle'
    this.#timer = setInterval(() => this.wake(), everyMs).unref()
    this.wake()
  }

  wake(): void {
    if (this.#state === 'stopped') return
    this.#state = 'again'
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined
    })
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    this.#state = 'stopped'
    await this.#claiming
    await Promise.all([...this.#hosts.values()].flatMap(({ sending }) => [...sending.keys()]))
    this.#hosts.clear()
    const holder = this.#options.store.holder()
    if (holder !== undefined) await this.#freeOthers(holder).catch(() => {})
  }

  async #freeOthers(holder: number): Promise<void> {
    const { store, channel } = this.#options
    const kept = this.#held().map(({ id }) => id)
    this.#hasLostRows = false
    try {
      await store.write(stored.freeOutbox, { holder, channel, kept })
    } catch (error) {
      this.#hasLostRows = true
      throw error
    }
  }

  #held(): Row[] {
    return [...this.#hosts.values()].flatMap(({ waiting, sending }) => [
      ...waiting,
      ...sending.values(),
    ])
  }

  async #claim(): Promise<void> {
    const { store, now, channel } = this.#options
    try {
      while (this.#state === 'again') {
        this.#state = 'idle'
        const holder = store.holder()
        if (holder === undefined) return
        if (this.#hasLostRows) await this.#freeOthers(holder)
        const due = { channel, at: now() }
        const places = this.#places(await store.read(stored.dueQueues, due))
        if (places.length === 0) continue
        const rows = await store.write(stored.claimOutbox, { ...due, holder, places })
        for (const row of rows) this.#hold({ ...row, holder })
        if (rows.length > 0) this.wake()
      }
    } catch (error) {
      this.#logOnce(error)
    }
  }

  #hostOf(queue: string): string {
    return this.#options.hostOf?.(queue) ?? queue
  }

  /** A granted place counts as taken. */
  #places(queues: readonly string[]): { queue: string; limit: number }[] {
    const taken = new Map<string, number>()
    const take = (queue: string, count: number) => {
      for (const { name } of this.#limitsOf(queue)) taken.set(name, (taken.get(name) ?? 0) + count)
    }
    for (const { queue } of this.#held()) take(queue, 1)
    const places = []
    for (const queue of queues) {
      if (this.#options.isPaused?.(queue)) continue
      const left = this.#limitsOf(queue).map(({ name, most }) => most - (taken.get(name) ?? 0))
      const limit = Math.min(...left)
      if (limit <= 0) continue
      places.push({ queue, limit })
      take(queue, limit)
    }
    return places.slice(0, maxHosts - this.#hosts.size)
  }

  #limitsOf(queue: string): { name: string; most: number }[] {
    const owner = this.#options.ownerOf?.(queue)
    const ofHost = { name: `host ${this.#hostOf(queue)}`, most: maxOfHost }
    return owner === undefined ? [ofHost] : [ofHost, { name: `owner ${owner}`, most: maxOfOwner }]
  }

  #hold(row: Row): void {
    const name = this.#hostOf(row.queue)
    const host: Host = this.#hosts.get(name) ?? { waiting: [], sending: new Map() }
    this.#hosts.set(name, host)
    host.waiting.push(row)
    this.#startNext(name, host)
  }

  #startNext(name: string, { waiting, sending }: Host): void {
    while (sending.size < atOnce && this.#state !== 'stopped') {
      const row = waiting.shift()
      if (row === undefined) break
      const work = this.#process(row).then((isStored) => {
        sending.delete(work)
        if (!isStored) this.#hasLostRows = true
        this.#startNext(name, { waiting, sending })
        // Others may wait in the store for this place.
        if (waiting.length < atOnce) this.wake()
      })
      sending.set(work, row)
    }
    if (sending.size === 0) this.#hosts.delete(name)
  }

  /** Never throws. Returns false if the outcome cannot be stored: the row is sent again. */
  async #process(row: Row): Promise<boolean> {
    try {
      await this.#sendRow(row)
      return true
    } catch (error) {
      this.#logOnce(error)
      return false
    }
  }

  async #sendRow(row: Row): Promise<void> {
    const { store, now } = this.#options
    const kind = this.#kinds.get(row.kind)
    if (now() - row.at >= (kind?.maxAgeMs ?? dayMs))
      return this.#giveUp(row, { reason: 'it waited for too long', isRefused: false })
    try {
      // A node of another version may have added it.
      if (kind === undefined) throw new Error('this version knows no such kind of row')
      await kind.deliver(row)
    } catch (error) {
      return this.#afterFailure(row, error)
    }
    await store.write(stored.removeFromOutbox, row)
  }

  async #afterFailure(row: Row, error: unknown): Promise<void> {
    const { store, now, random, log, channel } = this.#options
    const { kind, ownerId: userId, tries } = row
    const reason = withoutControls(messageOf(error)).slice(0, maxReason)
    if (error instanceof CarillonError && error.retryAfter !== undefined)
      return store.write(stored.delayInOutbox, {
        ...row,
        dueAt: now() + error.retryAfter * 1_000,
        reason,
      })
    if (isRefusal(error)) return this.#giveUp(row, { reason, isRefused: true })
    const facts = { channel, kind, userId, tries: tries + 1, reason }
    log.warn({ event: 'send-failed', ...facts }, 'something was not sent; it is sent again')
    const delayMs = Math.min(firstDelayMs * 2 ** tries, maxDelayMs) * (0.5 + random())
    await store.write(stored.delayInOutbox, {
      ...row,
      dueAt: now() + Math.round(delayMs),
      tries: tries + 1,
      reason,
    })
  }

  async #giveUp(row: Row, why: { reason: string; isRefused: boolean }): Promise<void> {
    const { store, channel } = this.#options
    // A webhook can have thousands: one entry tells of it (webhook-disabled).
    const audit = channel === 'webhook' ? [] : [this.#told(row, why)]
    await store.write(stored.removeFromOutbox, { ...row, audit })
    counts.outbox[channel].given_up++
    await this.#kinds.get(row.kind)?.givenUp?.(row, why.isRefused)
  }

  #told(row: OutboxRow, { reason, isRefused }: { reason: string; isRefused: boolean }) {
    const { now, log, channel } = this.#options
    const { id, kind, ownerId: userId, tries } = row
    log.warn(
      { event: 'send-given-up', channel, kind, userId, tries, reason },
      'a row of the outbox was given up',
    )
    return auditEntry(serviceSource, {
      event: 'send-given-up',
      at: now(),
      userId: userId || null,
      detail: { row: id, channel, kind, tries, refused: isRefused, reason },
    })
  }

  #logOnce(error: unknown): void {
    if (this.#logged.isOpen) return
    this.#logged.begin()
    this.#options.log.warn(
      { event: 'outbox-failed', err: error },
      'the outbox could not be read or changed; retrying',
    )
  }
}

/** The other side refuses this recipient or mail for good (RFC 5321, 4.2.1: 5yz), not us. */
function isRefusal(error: unknown): boolean {
  if (error instanceof Refused) return true
  const { responseCode = 0, command } = error as { responseCode?: number; command?: string }
  return responseCode >= 500 && ['RCPT TO', 'DATA'].includes(command ?? '')
}
