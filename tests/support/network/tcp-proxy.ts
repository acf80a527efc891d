// For tests: what can happen to a connection on its way. A TCP proxy that delays, cuts, swallows and refuses, and that can
// be pointed at another port. It knows nothing of what passes; `intercept` looks at the bytes and decides.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Passing = {
  direction: 'to server' | 'to client'
  bytes: Buffer
  /** What an earlier look at the same connection left for a later one. */
  notes: Set<string>
}
/** What is passed on in place of the bytes (nothing swallows them), and whether both ends are cut then. */
export type Interception = { pass?: Buffer; cuts?: boolean }

export class TcpProxy implements AsyncDisposable {
  /** New connections go there; those that are open stay where they are. */
  target: number
  /** Each piece, in each direction, is held so long. */
  delayMs = 0
  /** Holds a piece that it chooses longer, in milliseconds. */
  delayOf: ((passing: Passing) => number) | undefined
  /** What this direction carries is lost, while the connections stay open. */
  swallows: Passing['direction'] | 'both' | undefined
  /** New connections are reset. */
  isRefusing = false
  /** Undefined lets the bytes pass as they are. */
  intercept: ((passing: Passing) => Interception | undefined) | undefined
  readonly #server: Server
  readonly #pairs = new Set<Pair>()

  private constructor(target: number) {
    this.target = target
    this.#server = createServer((client) => this.#accept(client))
  }

  static async to(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening')
    return proxy
  }

  /** A URL of the target as it is reached through here. */
  urlFor(url: string): string {
    const through = new URL(url)
    through.port = String((this.#server.address() as AddressInfo).port)
    return through.href
  }

  /** Resets every open connection on both sides. */
  cut(): void {
    for (const pair of this.#pairs) pair.cut()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client: Socket): void {
    if (this.isRefusing) {
      client.on('error', () => {}).resetAndDestroy()
      return
    }
    const server = connect({ host: '127.0.0.1', port: this.target, noDelay: true })
    const pair = new Pair(client.setNoDelay(true), server)
    this.#pairs.add(pair)
    client.once('close', () => this.#pairs.delete(pair))
    const notes = new Set<string>()
    const carry = (from: Socket, to: Socket, direction: Passing['direction']) => {
      let before = Promise.resolve()
      from.on('data', (bytes: Buffer) => {
        const passing = { direction, bytes, notes }
        const passed = this.#passed(passing)
        const delayMs = this.delayMs + (this.delayOf?.(passing) ?? 0)
        before = this.#afterDelay(before, delayMs).then(() => pair.carry(to, passed))
      })
      from.on('end', () => before.then(() => to.end()))
    }
    carry(client, server, 'to server')
    carry(server, client, 'to client')
  }

  #passed(passing: Passing): Interception {
    if (this.swallows === 'both' || this.swallows === passing.direction) return {}
    return this.intercept?.(passing) ?? { pass: passing.bytes }
  }

  async #afterDelay(before: Promise<void>, delayMs: number): Promise<void> {
    await Promise.all([before, delayMs > 0 ? sleep(delayMs) : undefined])
  }
}

/** The two halves of a connection: where one breaks, the other does. */
class Pair {
  readonly #halves: readonly Socket[]

  constructor(...halves: [Socket, Socket]) {
    this.#halves = halves
    for (const half of halves) half.on('error', () => this.cut())
  }

  cut(): void {
    for (const half of this.#halves) half.resetAndDestroy()
  }

  carry(to: Socket, { pass, cuts = false }: Interception): void {
    if (pass === undefined) {
      if (cuts) this.cut()
      return
    }
    if (to.writable) to.write(pass)
    if (cuts) this.#endAfterLast(to)
  }

  /** A reset could overtake the last bytes, so that half is ended. */
  #endAfterLast(to: Socket): void {
    to.end()
    for (const half of this.#halves) if (half !== to) half.resetAndDestroy()
  }
}

/** Where in the conversation about one call of a PostgreSQL statement the connection breaks. */
export type Break = 'before the call' | 'before the reply' | 'in the reply' | 'reply swallowed'

/**
 * Breaks the connection of the next call of a prepared statement (pg names it in its Bind message), once. The server
 * has done the call in all cases but the first, since a call is a transaction of its own.
 */
export function breakOnce(proxy: TcpProxy, statement: string, where: Break): Promise<void> {
  const bind = Buffer.from(`\0${statement}\0`)
  const { promise, resolve } = Promise.withResolvers<void>()
  let isSpent = false
  proxy.intercept = ({ direction, bytes, notes }) => {
    if (direction === 'to server' && !isSpent && bytes.includes(bind)) {
      isSpent = true
      notes.add(statement)
      if (where !== 'before the call') return undefined
      resolve()
      return { cuts: true }
    }
    if (direction === 'to server' || !notes.has(statement)) return undefined
    resolve()
    if (where === 'reply swallowed') return {}
    return where === 'before the reply' ? { cuts: true } : { pass: bytes.subarray(0, bytes.length / 2), cuts: true }
  }
  return promise
}
