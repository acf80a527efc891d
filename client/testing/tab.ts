// Follows the inbox inside a page of the browser, and records the events.
import { createCarillon, type Inbox, type StreamEvent } from '../carillon-client.ts'
import { openSharedStream } from '../stream/shared-stream.ts'
import { defaultTiming } from '../stream/subscription.ts'
import { Requests } from '../transport/requests.ts'
import { ListHolder } from './list-holder.ts'

export type Following = {
  since?: string | number
  token?: string
  silenceMs?: number
  connectMs?: number
  /** The loop reads no second event until the test sets `tab.isHeld` to false. */
  isHeld?: boolean
  /** The loop ends by `break` after this number of events. */
  breakAfter?: number
}
/** In the order of arrival. */
export type Received = {
  types: string[]
  versions: number[]
  titles: string[]
  error: Record<string, unknown> | undefined
}

export type SourceEvent = { type: string; id: string; data: string }

class Tab {
  readonly createCarillon = createCarillon
  inbox: Inbox | undefined
  readonly lists = new ListHolder(createCarillon())
  /** In tabs.test.ts, those of the channel. */
  readonly sourceEvents: SourceEvent[] = []
  readonly events: StreamEvent[] = []
  isHeld = false
  #loseData = () => {}
  #error: unknown
  #aborting = new AbortController()
  /** If set, the `auth` function throws an error with this message. */
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
    const stream = openSharedStream(
      requests,
      { since, signal: this.#aborting.signal },
      timing,
      silenceMs,
    )
    this.keep(stream, breakAfter)
  }

  /** Also follows with the browser's own EventSource. */
  listen(): void {
    const source = new EventSource('/api/notifications/stream')
    for (const type of [
      'message',
      'hello',
      'created',
      'replaced',
      'read',
      'read-all',
      'removed',
      'resync',
    ])
      source.addEventListener(type, ({ lastEventId: id, data }) =>
        this.sourceEvents.push({ type, id, data }),
      )
  }

  abort(reason: string): void {
    this.#aborting.abort(reason)
  }

  /** Records the events of a stream until it ends or the loop is left. */
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

  received(): Received {
    const error = this.#error
    const news = this.events.filter((event) => event.type === 'created')
    return {
      types: this.events.map(({ type }) => type),
      versions: news.map(({ position }) => Number.parseInt(position, 10)),
      titles: news.map(({ notification }) => notification.title),
      error: describe(error),
    }
  }

  /** Drops all further data of the stream, while its connection stays open. */
  loseStream(): void {
    this.#loseData()
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const response = await fetch(url, init)
    if (!response.body || !url.includes('/stream')) return response
    let isLost = false
    this.#loseData = () => {
      isLost = true
    }
    const lossy = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(bytes, output) {
        if (!isLost) output.enqueue(bytes)
      },
    })
    return new Response(response.body.pipeThrough(lossy), response)
  }
}

declare global {
  var tab: Tab
}
globalThis.tab = new Tab()

function describe(error: unknown) {
  if (error instanceof Error)
    return {
      ...error,
      message: error.message,
      name: error.name,
      cause: error.cause && String(error.cause),
    }
  return error ? { error } : undefined
}
