// Makes the faults of a network: delays and drops bytes, disconnects, refuses, and can be pointed
// at another port. It does not know the protocol; `intercept` sees the bytes and decides.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Passing = {
  direction: 'to server' | 'to client'
  bytes: Buffer
  /** `intercept` keeps here what it needs later for the connection. */
  notes: Set<string>
}
/** `pass` replaces the bytes; without it they are dropped. `disconnects` then resets both ends. */
export type Interception = { pass?: Buffer; disconnects?: boolean }

export class TcpProxy implements AsyncDisposable {
  /** The port for new connections; open connections keep theirs. */
  target: number
  /** Each piece of bytes waits so long, in each direction. */
  delayMs = 0
  delayOf: ((passing: Passing) => number) | undefined
  /** Bytes of this direction are lost, while the connections stay open. */
  drops: Passing['direction'] | 'both' | undefined
  isRefusing = false
  /** If it returns undefined, the bytes pass unchanged. */
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

  /** The changed URL leads through this proxy. */
  urlFor(url: string): string {
    const through = new URL(url)
    through.port = String((this.#server.address() as AddressInfo).port)
    return through.href
  }

  /** Both sides get a reset. */
  disconnect(): void {
    for (const pair of this.#pairs) pair.disconnect()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disconnect()
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
    if (this.drops === 'both' || this.drops === passing.direction) return {}
    return this.intercept?.(passing) ?? { pass: passing.bytes }
  }

  async #afterDelay(before: Promise<void>, delayMs: number): Promise<void> {
    await Promise.all([before, delayMs > 0 ? sleep(delayMs) : undefined])
  }
}

/** If one half breaks, the other is reset. */
class Pair {
  readonly #halves: readonly Socket[]

  constructor(...halves: [Socket, Socket]) {
    this.#halves = halves
    for (const half of halves) half.on('error', () => this.disconnect())
  }

  disconnect(): void {
    for (const half of this.#halves) half.resetAndDestroy()
  }

  carry(to: Socket, { pass, disconnects = false }: Interception): void {
    if (pass === undefined) {
      if (disconnects) this.disconnect()
      return
    }
    if (to.writable) to.write(pass)
    if (disconnects) this.#endAfterLast(to)
  }

  /** A reset could overtake the last bytes, so this half ends in order. */
  #endAfterLast(to: Socket): void {
    to.end()
    for (const half of this.#halves) if (half !== to) half.resetAndDestroy()
  }
}

/** The connection breaks at this point of one call. */
export type Break = 'before the call' | 'before the reply' | 'in the reply' | 'reply dropped'

/**
 * Breaks the connection at the next call of a prepared statement (pg names it in its Bind message),
 * or at the next 'commit'. The server has executed the call in all cases but the first.
 */
export function breakOnce(proxy: TcpProxy, statement: string, where: Break): Promise<void> {
  const isCommit = statement === 'commit'
  // pg sends the text of a commit, after the length of the message; the replies of earlier statements may come first.
  const sent = Buffer.from(isCommit ? '\x0bcommit\0' : `\0${statement}\0`)
  const isReply = (bytes: Buffer) => !isCommit || bytes.includes('COMMIT\0')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Its test must not wait for ever for a statement that has another name now.
  setTimeout(
    () => reject(new Error(`no statement ${statement} was sent in a minute`)),
    60_000,
  ).unref()
  let isSpent = false
  proxy.intercept = ({ direction, bytes, notes }) => {
    if (direction === 'to server' && !isSpent && bytes.includes(sent)) {
      isSpent = true
      notes.add(statement)
      if (where !== 'before the call') return undefined
      resolve()
      return { disconnects: true }
    }
    if (direction === 'to server' || !notes.has(statement) || !isReply(bytes)) return undefined
    resolve()
    if (where === 'reply dropped') return {}
    return where === 'before the reply'
      ? { disconnects: true }
      : { pass: bytes.subarray(0, bytes.length / 2), disconnects: true }
  }
  return promise
}
