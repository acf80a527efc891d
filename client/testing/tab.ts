// For tests, in the page: follows the inbox as an application would, and keeps what it was told for the test to ask for.
import { createCarillon, type Inbox, type StreamEvent } from '../carillon-client.ts'
import { openSharedStream } from '../stream/shared-stream.ts'
import { defaultTiming } from '../stream/subscription.ts'
import { Requests } from '../transport/requests.ts'

export type Following = {
  since?: string | number
  /** In place of the cookie. */
  token?: string
  silenceMs?: number
  connectMs?: number
  /** The loop takes nothing before this is called off. */
  isHeld?: boolean
  /** The loop is left after so many events. */
  breakAfter?: number
}
/** `versions` are those of new notifications, in the order in which they were told. */
export type Told = { types: string[]; versions: number[]; titles: string[]; error: Record<string, unknown> | undefined }

/** An event as the browser's own parser has it. */
export type Heard = { type: string; id: string; data: string }

class Tab {
  readonly createCarillon = createCarillon
  inbox: Inbox | undefined
  /** What the browser's own EventSource was told. */
  readonly heard: Heard[] = []
  readonly events: StreamEvent[] = []
  isHeld = false
  #loses = () => {}
  #error: unknown
  #aborting = new AbortController()
  /** Whose token is given, and what is thrown in its place. */
  tokenError: string | undefined
  isOver = false

  follow({
    since,
    token,
    silenceMs,
    connectMs = defaultTiming.connectMs,
    isHeld = false,
    breakAfter,
  }: Following = {}): void {
    this.isHeld = isHeld
    this.isOver = false
    this.#aborting = new AbortController()
    const auth = () => {
      if (this.tokenError !== undefined) throw new RangeError(this.tokenError)
      return token ?? ''
    }
    const requests = new Requests(
      { fetch: (url, init) => this.#fetch(url, init) },
      token === undefined ? 'cookie' : auth,
    )
    const timing = { ...defaultTiming, connectMs }
    const stream = openSharedStream(requests, { since, signal: this.#aborting.signal }, timing, silenceMs)
    this.keep(stream, breakAfter)
  }

  /** Follows by EventSource, beside whatever else follows. */
  listen(): void {
    const source = new EventSource('/api/notifications/stream')
    for (const type of ['message', 'hello', 'notification', 'read', 'read-all', 'resync'])
      source.addEventListener(type, ({ lastEventId: id, data }) => this.heard.push({ type, id, data }))
  }

  abort(reason: string): void {
    this.#aborting.abort(reason)
  }

  /** Keeps what a stream tells, until it ends or the loop is left. */
  keep(stream: AsyncIterable<StreamEvent>, breakAfter = Number.POSITIVE_INFINITY): void {
    void this.#keep(stream, breakAfter)
  }

  async #keep(stream: AsyncIterable<StreamEvent>, breakAfter: number): Promise<void> {
    try {
      for await (const event of stream) {
        this.events.push(event)
        while (this.isHeld) await new Promise((resolve) => setTimeout(resolve, 10))
        if (this.events.length >= breakAfter) break
      }
    } catch (error) {
      this.#error = error
    }
    this.isOver = true
  }

  told(): Told {
    const error = this.#error
    const news = this.events.filter((event) => event.type === 'notification')
    return {
      types: this.events.map(({ type }) => type),
      versions: news.map(({ position }) => Number.parseInt(position, 10)),
      titles: news.map(({ notification }) => notification.title),
      error:
        error instanceof Error ? { ...error, message: error.message, name: error.name } : error ? { error } : undefined,
    }
  }

  /** What the stream brings from now on is lost, while its connection stays. */
  loseStream(): void {
    this.#loses()
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const response = await fetch(url, init)
    if (!response.body || !url.includes('/stream')) return response
    let isLost = false
    this.#loses = () => {
      isLost = true
    }
    const lossy = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(bytes, passed) {
        if (!isLost) passed.enqueue(bytes)
      },
    })
    return new Response(response.body.pipeThrough(lossy), response)
  }
}

declare global {
  var tab: Tab
}
globalThis.tab = new Tab()
