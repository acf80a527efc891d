// A small HTTP load balancer: nodes get requests in turn, but for those whose /readyz is not 200,
// or that refuse a connection. It never repeats a request that it has sent: a failure becomes a
// 502, so that a test sees it.
import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

const checkEveryMs = 50
const responseTimeoutMs = 10_000

type Node = { readonly port: number; readonly agent: Agent; isReady: boolean; responses: number }

export class Balancer implements AsyncDisposable {
  readonly #nodes: Node[]
  readonly #server: Server
  readonly #checking: NodeJS.Timeout
  #turn = 0

  private constructor(ports: readonly number[], keepAlive: boolean) {
    this.#nodes = ports.map((port) => ({
      port,
      agent: new Agent({ keepAlive }),
      isReady: false,
      responses: 0,
    }))
    this.#server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing))
    this.#checking = setInterval(() => void this.#checkAll(), checkEveryMs)
  }

  /** `keepAlive`: whether connections to the nodes are reused. */
  static async before(ports: readonly number[], { keepAlive = true } = {}): Promise<Balancer> {
    const balancer = new Balancer(ports, keepAlive)
    await balancer.#checkAll()
    await once(balancer.#server.listen(0, '127.0.0.1'), 'listening')
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Counts in the order of `ports`. */
  get responses(): number[] {
    return this.#nodes.map(({ responses }) => responses)
  }

  isReady(port: number): boolean {
    return this.#nodes.some((node) => node.port === port && node.isReady)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#checking)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    for (const { agent } of this.#nodes) agent.destroy()
  }

  async #checkAll(): Promise<void> {
    await Promise.all(
      this.#nodes.map(async (node) => {
        const response = await fetch(`http://127.0.0.1:${node.port}/readyz`, {
          signal: AbortSignal.timeout(responseTimeoutMs),
        }).catch(() => undefined)
        node.isReady = response?.ok === true
        await response?.body?.cancel()
      }),
    )
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = Buffer.concat(await incoming.toArray())
    this.#send({ incoming, body, outgoing })
  }

  #send(exchange: { incoming: IncomingMessage; body: Buffer; outgoing: ServerResponse }): void {
    const { incoming, body, outgoing } = exchange
    const ready = this.#nodes.filter(({ isReady }) => isReady)
    const node = ready[this.#turn++ % ready.length]
    if (node === undefined) {
      fail(outgoing, 'no node is ready')
      return
    }
    const { method, url, headers } = incoming
    const passed = request({
      agent: node.agent,
      host: '127.0.0.1',
      port: node.port,
      method,
      path: url,
      headers,
    })
    passed.on('response', (response) => {
      node.responses++
      // The node's field is about its connection to the balancer, not about the client's.
      const { connection: _, ...fields } = response.headers
      outgoing.writeHead(response.statusCode ?? 502, fields)
      response.pipe(outgoing)
    })
    passed.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') {
        // The node has not received the request.
        node.isReady = false
        this.#send(exchange)
      } else fail(outgoing, `port ${node.port}: ${error.message}`)
    })
    passed.end(body)
  }
}

function fail(outgoing: ServerResponse, reason: string): void {
  if (outgoing.headersSent) outgoing.destroy()
  else outgoing.writeHead(502).end(reason)
}
