// Writes like nginx as a reverse proxy: the whole request before it reads the response, and a
// failed write counts as a failure of the node. Detects a server that closes a connection before it
// has read the request.
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Seen } from '../http/envelope.ts'
import { readResponses } from '../http/raw-http.ts'

const pieceBytes = 64 * 1024
/**
 * Without a pause all of the request would fit into the system's buffers, whatever the server does.
 */
const pauseMs = 20

export class WritingProxy implements Disposable {
  readonly #port: number
  readonly #idle: Socket[] = []
  /** nginx would have counted so many failures of the node. */
  failures = 0

  constructor(url: string) {
    this.#port = Number(new URL(url).port)
  }

  /** Returns the response, or 502. The connection is kept unless the response says otherwise. */
  async pass(head: string, body: Buffer | string = ''): Promise<Seen> {
    const socket = this.#idle.pop() ?? this.#connect()
    try {
      await write(socket, Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]))
      const response = await read(socket, { hasBody: !head.startsWith('HEAD') })
      if (response.headers.get('connection') === 'close') socket.destroy()
      else this.#idle.push(socket)
      return response
    } catch (error) {
      this.failures++
      socket.destroy()
      return { status: 502, headers: new Headers(), text: (error as Error).message }
    }
  }

  [Symbol.dispose](): void {
    for (const socket of this.#idle) socket.destroy()
  }

  #connect(): Socket {
    const socket = connect({
      host: '127.0.0.1',
      port: this.#port,
      allowHalfOpen: true,
      noDelay: true,
    }).pause()
    return socket.on('error', () => {})
  }
}

async function write(socket: Socket, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (at === pieceBytes) await sleep(pauseMs)
    await new Promise<void>((resolve, reject) => {
      socket.write(bytes.subarray(at, at + pieceBytes), (error) =>
        error ? reject(error) : resolve(),
      )
    })
  }
}

/** Throws if the connection ends before the response is complete, or if more than one response arrives. */
async function read(socket: Socket, { hasBody }: { hasBody: boolean }): Promise<Seen> {
  let received = Buffer.alloc(0)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    if (isWhole(received, hasBody)) resolve()
  }
  const onEnd = () => reject(new Error(`the connection ended after ${received.length} bytes`))
  socket.on('data', onData).once('end', onEnd).once('error', reject).once('close', onEnd).resume()
  try {
    await promise
  } finally {
    socket.pause().off('data', onData).off('end', onEnd).off('error', reject).off('close', onEnd)
  }
  const bytes = hasBody ? received : withoutLength(received)
  const [response, ...more] = readResponses(bytes)
  if (response === undefined || more.length > 0)
    throw new Error(`not one response: ${received.toString('latin1')}`)
  return response
}

function isWhole(received: Buffer, hasBody: boolean): boolean {
  const head = received.indexOf('\r\n\r\n') + 4
  if (head < 4) return false
  const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, head))?.[1] ?? '0'
  return received.length >= head + (hasBody ? Number(length) : 0)
}

/** A response to HEAD has the length of a body, but no body. */
function withoutLength(received: Buffer): Buffer {
  return Buffer.from(
    received.toString('latin1').replace(/content-length: \d+/i, 'content-length: 0'),
    'latin1',
  )
}
