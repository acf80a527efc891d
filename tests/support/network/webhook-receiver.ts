// For tests: the backend of an application that receives webhooks. `answer` decides about each request.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type Received = {
  path: string
  headers: IncomingHttpHeaders
  body: string
  event: ReturnType<typeof JSON.parse>
}

export class WebhookReceiver {
  readonly received: Received[] = []
  /** How many requests were being answered at the same time. */
  most = 0
  answer: (request: Received, response: ServerResponse) => void = (_, response) =>
    response.writeHead(204).end()
  readonly #server = createServer(async (request, response) => {
    this.#open++
    this.most = Math.max(this.most, this.#open)
    response.on('close', () => this.#open--)
    const body = await text(request)
    const { url: path = '', headers } = request
    const received = { path, headers, body, event: JSON.parse(body) }
    this.received.push(received)
    this.answer(received, response)
    this.#server.emit('received')
  })
  #open = 0
  #taken = 0

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The next request that was not returned yet. */
  async next(): Promise<Received> {
    while (this.received.length <= this.#taken) await once(this.#server, 'received')
    return this.received[this.#taken++] as Received
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
