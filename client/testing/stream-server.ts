// An HTTP server whose stream becomes silent, sends invalid data, sends byte by byte, or refuses.
// Each connection gets the next act.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Act = (stream: Stream) => unknown
export class Stream {
  /** The position from which the client resumes. */
  readonly since: string | null
  readonly authorization: string | undefined
  readonly response: ServerResponse
  readonly closed: Promise<unknown>
  /** By `performance.now()`. */
  readonly at = performance.now()

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.since = new URL(request.url ?? '', 'http://test').searchParams.get('since')
    this.authorization = request.headers.authorization
    this.response = response
    this.closed = once(response, 'close')
  }

  open(): this {
    this.response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    })
    this.response.flushHeaders()
    return this
  }

  write(text: string | Uint8Array): this {
    this.response.write(text)
    return this
  }

  greet(version: number): this {
    return this.open().write(`retry: 20\n\n${eventText('hello', version)}`)
  }

  notify(version: number): this {
    return this.write(notificationText(version))
  }

  end(): void {
    this.response.end()
  }

  disconnect(): void {
    this.response.destroy()
  }

  refuse(status: number, code: string, fields: Record<string, string> = {}): void {
    const error = { code, status, message: 'Refused by the test', requestId: 'test-request' }
    this.response.writeHead(status, { 'content-type': 'application/json', ...fields })
    this.response.end(JSON.stringify({ success: false, error }))
  }
}

export const positionOf = (version: number) => `${version}-5f3a9c1e`

export function eventText(type: string, version: number, more: object = {}): string {
  const data = { version, unread: version, total: version, ...more }
  return `event: ${type}\nid: ${positionOf(version)}\ndata: ${JSON.stringify(data)}\n\n`
}

export function notificationText(version: number): string {
  return eventText('created', version, {
    notification: { id: `n${version}`, title: `Ünïcödé 🔔 ${version}` },
  })
}

export const sessionEndedText = (reason: string) =>
  `event: session-ended\nid:\ndata: {"reason":"${reason}"}\n\n`

export class StreamServer implements AsyncDisposable {
  readonly streams: Stream[] = []
  readonly #server

  private constructor(acts: readonly Act[]) {
    this.#server = createServer(async (request, response) => {
      const stream = new Stream(request, response)
      this.streams.push(stream)
      const act = acts[Math.min(this.streams.length, acts.length) - 1]
      await act?.(stream)
    })
  }

  /** All connections after the last act repeat it. */
  static async with(...acts: Act[]): Promise<StreamServer> {
    const server = new StreamServer(acts)
    await once(server.#server.listen(0, '127.0.0.1'), 'listening')
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
