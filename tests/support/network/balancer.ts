// For tests: a small balancer of HTTP. Nodes take turns; one whose /readyz does not say 200, or that takes no connection,
// is out of turn. What was sent to a node is never sent again: a failure there is an answer of 502 here, so that a test
// sees every single one.
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const askEveryMs = 50
const responseTimeoutMs = 10_000

type Node = { readonly port: number; readonly agent: Agent; isReady: boolean; answered: number }

export class Balancer implements AsyncDisposable {
  readonly #nodes: Node[]
  readonly #server: Server
  readonly #asking: NodeJS.Timeout
  #turn = 0

  private constructor(ports: readonly number[], keepAlive: boolean) {
    this.#nodes = ports.map((port) => ({ port, agent: new Agent({ keepAlive }), isReady: false, answered: 0 }))
    this.#server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing))
    this.#asking = setInterval(() => void this.#requestAll(), askEveryMs)
  }

  /** `keepAlive`: whether the connections to the nodes are used again. */
  static async before(ports: readonly number[], { keepAlive = true } = {}): Promise<Balancer> {
    const balancer = new Balancer(ports, keepAlive)
    await balancer.#requestAll()
    await once(balancer.#server.listen(0, '127.0.0.1'), 'listening')
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** How many requests each node answered, in the order in which they were named. */
  get answered(): number[] {
    return this.#nodes.map(({ answered }) => answered)
  }

  isReady(port: number): boolean {
    return this.#nodes.some((node) => node.port === port && node.isReady)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#asking)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    for (const { agent } of this.#nodes) agent.destroy()
  }

  async #requestAll(): Promise<void> {
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
    const passed = request({ agent: node.agent, host: '127.0.0.1', port: node.port, method, path: url, headers })
    passed.on('response', (response) => {
      node.answered++
      // Theirs is the connection to the balancer; the client's is its own.
      const { connection: _, ...fields } = response.headers
      outgoing.writeHead(response.statusCode ?? 502, fields)
      response.pipe(outgoing)
    })
    passed.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') {
        // Nothing was sent.
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
