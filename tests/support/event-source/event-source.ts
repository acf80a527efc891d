// Reads the live stream strictly: each line must have exactly the form of docs/inbox/live.md, where
// a lenient parser would ignore anything else.
import assert from 'node:assert/strict'
import { type IncomingMessage, request } from 'node:http'
import type { Notification, Proof } from '../service.ts'

export type EventData = {
  version: number
  unread: number
  total: number
  unseen: number
  notification: Notification & { [field: string]: unknown }
  through: string
  throughSeq: number
  readAt: string
  archivedAt: string
  id: string
  reason: string
}
export type StreamEvent = { type: string; id: string | undefined; data: EventData; text: string }

export const streamPath = '/api/notifications/stream'
/** Limits the wait for events that never arrive; long, since the machine may be busy. */
const usualWaitMs = 60_000

/** Throws if the pieces do not have the exact form. */
export class StrictEvents {
  readonly retries: number[] = []
  beats = 0
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #rest = ''

  push(bytes: Uint8Array): StreamEvent[] {
    const blocks = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.flatMap((block) => this.#read(block))
  }

  #read(block: string): StreamEvent[] {
    const [, retry] = /^retry: (\d+)$/.exec(block) ?? []
    if (retry !== undefined) this.retries.push(Number(retry))
    else if (block === ':') this.beats++
    else {
      // Not `.`, which also excludes U+2028 and U+2029.
      const [, type = '', id, text = ''] =
        /^event: ([a-z-]+)\n(?:id: (\d+-[0-9a-f]{8})\n)?data: ([^\r\n]+)$/.exec(block) ?? []
      assert.notEqual(type, '', `no event: ${JSON.stringify(block.slice(0, 500))}`)
      return [{ type, id, data: JSON.parse(text), text }]
    }
    return []
  }
}

export type Opening = { headers?: Proof; path?: string; method?: string }

/** One connection to the stream, on its own socket. `using` destroys it. */
export class EventReader implements Disposable {
  readonly status: number
  readonly headers: Headers
  readonly events: StreamEvent[] = []
  readonly pieces: Buffer[] = []
  /** Arrival times of the pieces, by `performance.now()`. */
  readonly piecesAt: number[] = []
  isOver = false
  readonly #parser = new StrictEvents()
  readonly #response: IncomingMessage
  #failure: unknown
  #taken = 0
  #wake: (() => void)[] = []

  private constructor(response: IncomingMessage) {
    this.status = response.statusCode ?? 0
    this.headers = new Headers()
    for (const [name, values = []] of Object.entries(response.headersDistinct))
      for (const value of values) this.headers.append(name, value)
    this.#response = response
    response.on('data', (piece: Buffer) => this.#take(piece))
    response.on('error', () => {})
    response.on('close', () => this.#end())
  }

  /** Resolves when the header of the response has arrived, with any status. */
  static open(
    url: string,
    { headers = {}, path = streamPath, method = 'GET' }: Opening = {},
  ): Promise<EventReader> {
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(path, url), { method, headers, agent: false }, (response) =>
        resolve(new EventReader(response)),
      )
      outgoing.on('error', reject)
      outgoing.end()
    })
  }

  /** Checks the status and takes the `hello` event. */
  static async of(url: string, headers: Proof, path = streamPath): Promise<EventReader> {
    const reader = await EventReader.open(url, { headers, path })
    assert.equal(reader.status, 200, reader.text)
    await reader.next('hello')
    return reader
  }

  get retries(): readonly number[] {
    return this.#parser.retries
  }

  get beats(): number {
    return this.#parser.beats
  }

  get bytes(): Buffer {
    return Buffer.concat(this.pieces)
  }

  get text(): string {
    return this.bytes.toString('utf8')
  }

  get isUpToDate(): boolean {
    return this.#taken === this.events.length
  }

  /** Throws if the next event is not of `type`, when given. */
  async next(type?: string, withinMs = usualWaitMs): Promise<StreamEvent> {
    await this.until(() => this.events.length > this.#taken, withinMs, type)
    const event = this.events[this.#taken++]
    assert.ok(event, `the stream ended before ${type ?? 'an event'}`)
    if (type !== undefined) assert.equal(event.type, type, event.text)
    return event
  }

  async until(isSo: () => boolean, withinMs = usualWaitMs, what = 'it'): Promise<void> {
    const giveUpAt = performance.now() + withinMs
    while (!isSo() && !this.isOver) {
      const ms = giveUpAt - performance.now()
      if (ms <= 0)
        assert.fail(`waited ${withinMs} ms for ${what}; there were ${this.events.length} events`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  async ended(withinMs = usualWaitMs): Promise<void> {
    await this.until(() => this.isOver, withinMs, 'its end')
  }

  stopReading(): void {
    this.#response.pause()
  }

  readOn(): void {
    this.#response.resume()
  }

  close(): void {
    this.#response.destroy()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #take(piece: Buffer): void {
    this.pieces.push(piece)
    this.piecesAt.push(performance.now())
    try {
      if (this.headers.get('content-type')?.startsWith('text/event-stream'))
        this.events.push(...this.#parser.push(piece))
    } catch (error) {
      this.#failure = error
    }
    this.#wakeAll()
  }

  #end(): void {
    this.isOver = true
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }
}

export function arrivals(events: readonly StreamEvent[]): string[] {
  return events.flatMap(({ type, data }) => (type === 'created' ? [data.notification.id] : []))
}
