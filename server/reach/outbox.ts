// Claims the rows of one channel that are due, sends four of a host at the same time, and removes
// or delays each. The part that added a row reads what it is about when it is sent. A failed row
// waits, each time twice as long, and is given up after a day.
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { CarillonError, messageOf } from '../basics/errors.ts'
import { newOrderedId } from '../basics/ids.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { Store } from '../store/store.ts'
import type { Channel, OutboxRow } from './outbox.store.ts'
import * as stored from './outbox.store.ts'

export type RowKind = {
  /** Does nothing without a reason to send it. Throws TOO_MANY_REQUESTS if it has to wait. */
  deliver: (row: OutboxRow) => Promise<void>
  /** Without it, a row waits for at most a day. */
  maxAgeMs?: number
  /** The row is too old, or its target refuses it for good. */
  givenUp?: (row: OutboxRow, isRefused: boolean) => Promise<void>
}

export class Refused extends Error {}

type Options = {
  store: Store
  channel: Channel
  now: () => number
  random: () => number
  log: Log
  /** Without it all rows go to one host. No row waits for the rows of another host. */
  hostOf?: (row: OutboxRow) => string
  /** With `hostOf`: the rows of one owner, which can have many hosts, leave places to others. */
  owners?: Owners
}
type Owners = {
  ownerOf: (row: OutboxRow) => string | undefined
  targetsOf: (owner: string) => readonly string[]
}

const everyMs = 1_000
/** A mailer has as many connections to one host (mail.ts). */
const atOnce = 4
const maxClaimed = 2 * atOnce
const maxHosts = 16
const maxOfOwner = 16
const dayMs = 24 * 3_600_000
const firstDelayMs = 30_000
const maxDelayMs = 3_600_000
const logEveryMs = 60_000

export class Outbox {
  readonly #options: Options
  readonly #kinds = new Map<string, RowKind>()
  readonly #claimed: (OutboxRow & { holder: number })[] = []
  readonly #sending = new Map<Promise<void>, OutboxRow>()
  readonly #logged = new LogWindow(logEveryMs, () => {})
  #timer: NodeJS.Timeout | undefined
  #claiming: Promise<void> | undefined
  /** 'again': something was added while rows were claimed. */
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

  async start(): Promise<void> {
    const { store, channel } = this.#options
    // On SQLite the process before had the same number.
    const holder = store.holder()
    if (holder !== undefined) await store.write(stored.freeOutbox, { holder, channel })
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

  /** Other rows stay for the next start, or another process. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    this.#state = 'stopped'
    await this.#claiming
    this.#claimed.length = 0
    await Promise.all(this.#sending.keys())
    const { store, channel } = this.#options
    const holder = store.holder()
    if (holder !== undefined)
      await store.write(stored.freeOutbox, { holder, channel }).catch(() => {})
  }

  async #claim(): Promise<void> {
    const { store, now, channel, hostOf } = this.#options
    try {
      while (this.#state === 'again') {
        this.#state = 'idle'
        const limit = this.#limit()
        const holder = store.holder()
        if (limit <= 0 || holder === undefined) return
        const claim = { holder, channel, at: now(), limit, except: this.#busyTargets() }
        const rows = await store.write(stored.claimOutbox, claim)
        this.#claimed.push(...rows.map((row) => ({ ...row, holder })))
        this.#startNext()
        // The rows of other hosts may be behind these.
        if (hostOf !== undefined && rows.length > 0) this.wake()
      }
    } catch (error) {
      this.#logOnce(error)
    }
  }

  #limit(): number {
    const count = this.#claimed.length + this.#sending.size
    return this.#options.hostOf === undefined
      ? maxClaimed - count
      : Math.min(atOnce, maxHosts * atOnce - count)
  }

  #hostOf(row: OutboxRow): string {
    return this.#options.hostOf?.(row) ?? ''
  }

  /** Enough is claimed or being sent to these hosts. */
  #busyTargets(): string[] {
    if (this.#options.hostOf === undefined) return []
    const rows = [...this.#claimed, ...this.#sending.values()]
    const byHost = Map.groupBy(rows, (row) => this.#hostOf(row))
    const busy = byHost.values().filter(({ length }) => length >= atOnce)
    const ofHosts = [...busy].flat().map(({ target }) => target)
    return [...new Set([...ofHosts, ...this.#targetsOfBusyOwners(rows)])]
  }

  #targetsOfBusyOwners(rows: readonly OutboxRow[]): string[] {
    const { owners } = this.#options
    const byOwner = [...Map.groupBy(rows, (row) => owners?.ownerOf(row))]
    return byOwner.flatMap(([owner, { length }]) =>
      owner === undefined || length < maxOfOwner ? [] : [...(owners?.targetsOf(owner) ?? [])],
    )
  }

  #hasPlace(row: OutboxRow): boolean {
    const host = this.#hostOf(row)
    const sending = [...this.#sending.values()]
    const ofHost = sending.filter((one) => this.#hostOf(one) === host)
    return ofHost.length < atOnce && this.#ownerHasPlace(row, sending)
  }

  #ownerHasPlace(row: OutboxRow, sending: readonly OutboxRow[]): boolean {
    const { owners } = this.#options
    const owner = owners?.ownerOf(row)
    if (owner === undefined) return true
    return sending.filter((one) => owners?.ownerOf(one) === owner).length < maxOfOwner
  }

  #startNext(): void {
    for (;;) {
      const next = this.#claimed.findIndex((one) => this.#hasPlace(one))
      const [row] = next < 0 ? [] : this.#claimed.splice(next, 1)
      if (row === undefined) return
      const work = this.#process(row).finally(() => {
        this.#sending.delete(work)
        if (this.#state === 'stopped') return
        this.#startNext()
        // Others may wait in the store for this one's place.
        if (this.#claimed.length < atOnce) this.wake()
      })
      this.#sending.set(work, row)
    }
  }

  /** Never throws. If the outcome cannot be stored, the row stays claimed, and is sent again. */
  async #process(row: OutboxRow & { holder: number }): Promise<void> {
    try {
      await this.#sendRow(row)
    } catch (error) {
      this.#logOnce(error)
    }
  }

  async #sendRow(row: OutboxRow & { holder: number }): Promise<void> {
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

  async #afterFailure(row: OutboxRow & { holder: number }, error: unknown): Promise<void> {
    const { store, now, random, log, channel } = this.#options
    const { kind, ownerId: userId, tries } = row
    if (error instanceof CarillonError && error.retryAfter !== undefined)
      return store.write(stored.delayInOutbox, { ...row, dueAt: now() + error.retryAfter * 1_000 })
    const reason = messageOf(error)
    if (isRefusal(error)) return this.#giveUp(row, { reason, isRefused: true })
    const facts = { channel, kind, userId, tries: tries + 1, reason }
    log.warn({ event: 'send-failed', ...facts }, 'something was not sent; it is sent again')
    const delayMs = Math.min(firstDelayMs * 2 ** tries, maxDelayMs) * (0.5 + random())
    await store.write(stored.delayInOutbox, {
      ...row,
      dueAt: now() + Math.round(delayMs),
      tries: tries + 1,
    })
  }

  async #giveUp(
    row: OutboxRow & { holder: number },
    why: { reason: string; isRefused: boolean },
  ): Promise<void> {
    const { store, channel } = this.#options
    // A webhook can have thousands: it is told of as a whole (webhook-disabled).
    const audit = channel === 'webhook' ? [] : [this.#told(row, why)]
    await store.write(stored.removeFromOutbox, { ...row, audit })
    await this.#kinds.get(row.kind)?.givenUp?.(row, why.isRefused)
  }

  /** Writes a line, and returns its entry of the audit log. */
  #told(row: OutboxRow, { reason, isRefused }: { reason: string; isRefused: boolean }) {
    const { now, log, channel } = this.#options
    const { kind, ownerId: userId, tries } = row
    log.warn(
      { event: 'send-given-up', channel, kind, userId, tries, reason },
      'a row of the outbox was given up',
    )
    return auditEntry(serviceSource, {
      event: 'send-given-up',
      at: now(),
      userId: userId || null,
      detail: { channel, kind, tries, refused: isRefused },
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

/**
 * The other side refuses this recipient or this mail for good (RFC 5321, section 4.2.1: 5yz), and
 * not this service.
 */
function isRefusal(error: unknown): boolean {
  if (error instanceof Refused) return true
  const { responseCode = 0, command } = error as { responseCode?: number; command?: string }
  return responseCode >= 500 && ['RCPT TO', 'DATA'].includes(command ?? '')
}
