// Behaves like PgBouncer 1.18 as far as Carillon can see: accepts a client itself, with an invented
// process id, refuses unknown startup parameters, and lends connections of a bounded pool for a
// session, a transaction or a statement.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

type Mode = 'session' | 'transaction' | 'statement'

const sslRequest = 80_877_103
const knownParameters = new Set(['user', 'database', 'application_name', 'client_encoding'])

/**
 * A message of PostgreSQL's protocol has a type of one byte (none in a client's first message) and
 * a length.
 */
class Frames {
  #rest: Buffer = Buffer.alloc(0);

  *push(bytes: Buffer, hasType: () => boolean): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, bytes])
    for (;;) {
      const start = hasType() ? 1 : 0
      if (this.#rest.length < start + 4) return
      const end = start + this.#rest.readInt32BE(start)
      if (this.#rest.length < end) return
      const frame = this.#rest.subarray(0, end)
      this.#rest = this.#rest.subarray(end)
      yield frame
    }
  }
}

class ServerConnection {
  readonly socket: Socket
  client: PooledClient | undefined
  readonly ready: Promise<void>

  constructor(port: number, startup: Buffer) {
    this.socket = connect({ host: '127.0.0.1', port, noDelay: true })
    this.socket.on('error', () => {})
    this.socket.write(startup)
    const frames = new Frames()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ready = promise
    let isReady = false
    this.socket.on('data', (bytes: Buffer) => {
      for (const frame of frames.push(bytes, () => true)) {
        const isIdle = frame[0] === 0x5a && frame[5] === 0x49
        if (isReady) this.client?.receive(frame, isIdle)
        else if (isIdle) {
          isReady = true
          resolve()
        }
      }
    })
    this.socket.on('close', () => this.client?.socket.destroy())
  }
}

class PooledClient {
  readonly socket: Socket
  readonly #pooler: Pooler
  #server: ServerConnection | undefined
  #before = Promise.resolve()
  #hasStarted = false

  constructor(socket: Socket, pooler: Pooler) {
    this.socket = socket
    this.#pooler = pooler
    const frames = new Frames()
    socket.setNoDelay(true).on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      for (const frame of frames.push(bytes, () => this.#hasStarted)) this.#take(frame)
    })
    socket.on('close', () =>
      this.#before.then(() => this.#server && pooler.giveBack(this.#server, true)),
    )
  }

  #take(frame: Buffer): void {
    if (this.#hasStarted) this.#before = this.#before.then(() => this.#send(frame))
    else if (frame.readInt32BE(4) === sslRequest) this.socket.write('N')
    else this.#start(frame)
  }

  #start(frame: Buffer): void {
    this.#hasStarted = true
    const names = frame
      .subarray(8)
      .toString()
      .split('\0')
      .filter((_, n) => n % 2 === 0)
    const unknown = names.find((name) => name !== '' && !knownParameters.has(name))
    if (unknown !== undefined) {
      this.socket.end(
        message('E', `SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: ${unknown}\0\0`),
      )
      return
    }
    this.#pooler.startup ??= frame
    const key = Buffer.alloc(8, 7)
    this.socket.write(
      Buffer.concat([message('R', Buffer.alloc(4)), message('K', key), message('Z', 'I')]),
    )
  }

  async #send(frame: Buffer): Promise<void> {
    if (frame[0] === 0x58) return
    if (this.#server === undefined) {
      this.#server = await this.#pooler.take()
      this.#server.client = this
    }
    this.#server.socket.write(frame)
  }

  receive(frame: Buffer, isIdle: boolean): void {
    this.socket.write(frame)
    if (!isIdle || this.#pooler.mode === 'session' || this.#server === undefined) return
    const server = this.#server
    this.#server = undefined
    this.#pooler.giveBack(server, false)
  }
}

export class Pooler implements AsyncDisposable {
  readonly mode: Mode
  readonly size: number
  /**
   * Lends the connection that was idle longest, as `server_round_robin` does, or the one that was
   * used last.
   */
  readonly isInTurns: boolean
  /** The first client's startup message names user and database. */
  startup: Buffer | undefined
  readonly #target: number
  readonly #listener: Server
  readonly #idle: ServerConnection[] = []
  readonly #all = new Set<ServerConnection>()
  readonly #waiting: ((server: ServerConnection) => void)[] = []
  readonly #clients = new Set<Socket>()

  private constructor(
    target: number,
    { mode, size, isInTurns }: { mode: Mode; size: number; isInTurns: boolean },
  ) {
    this.#target = target
    this.mode = mode
    this.size = size
    this.isInTurns = isInTurns
    this.#listener = createServer((socket) => {
      this.#clients.add(socket)
      new PooledClient(socket, this)
    })
  }

  static async before(
    target: number,
    { mode, size = 20, isInTurns = false }: { mode: Mode; size?: number; isInTurns?: boolean },
  ) {
    const pooler = new Pooler(target, { mode, size, isInTurns })
    await once(pooler.#listener.listen(0, '127.0.0.1'), 'listening')
    return pooler
  }

  /** The changed URL leads through this pooler. */
  urlFor(url: string): string {
    const through = new URL(url)
    through.port = String((this.#listener.address() as AddressInfo).port)
    return through.href
  }

  async take(): Promise<ServerConnection> {
    const idle = this.isInTurns ? this.#idle.shift() : this.#idle.pop()
    if (idle !== undefined) return idle
    if (this.#all.size >= this.size) return new Promise((resolve) => this.#waiting.push(resolve))
    const server = new ServerConnection(this.#target, this.startup ?? Buffer.alloc(0))
    this.#all.add(server)
    await server.ready
    return server
  }

  /**
   * PgBouncer would send `discard all`; this one closes the connection at the end of its session.
   */
  giveBack(server: ServerConnection, isOver: boolean): void {
    server.client = undefined
    if (isOver) {
      server.socket.destroy()
      this.#all.delete(server)
      if (this.#waiting.length > 0)
        void this.take().then((another) => this.giveBack(another, false))
      return
    }
    const next = this.#waiting.shift()
    if (next === undefined) this.#idle.push(server)
    else next(server)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#clients) socket.destroy()
    for (const { socket } of this.#all) socket.destroy()
    await new Promise((resolve) => this.#listener.close(resolve))
  }
}

function message(type: string, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body as string)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}
