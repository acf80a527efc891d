// What does the bench ask, byte by byte, and what came back?
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export type Answer = { status: number; headers: [name: string, value: string][]; body: string }

/** A header field that carries a proof or a producer key, as one line. */
export type ProofLine = string

export function request(
  method: string,
  path: string,
  { proof, body }: { proof?: ProofLine; body?: string } = {},
): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Accept: application/json']
  if (proof !== undefined) lines.push(proof)
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
}

/** A connection that is kept alive, and takes one question at a time. */
export class Connection {
  readonly #socket: Socket
  #received = ''
  #pending: PromiseWithResolvers<Answer> | undefined

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    this.#socket.on('data', (piece: string) => {
      this.#received += piece
      const answer = parse(this.#received)
      if (answer !== undefined) this.#pending?.resolve(answer)
    })
    this.#socket.on('error', (error) => this.#pending?.reject(error))
    this.#socket.on('close', () =>
      this.#pending?.reject(new Error(`not a whole answer: ${this.#received.slice(0, 1_000)}`)),
    )
  }

  ask(text: string): Promise<Answer> {
    this.#received = ''
    this.#pending = Promise.withResolvers<Answer>()
    this.#socket.write(text, 'latin1')
    return this.#pending.promise
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Asks once, on a connection of its own. */
export async function ask(port: number, text: string): Promise<Answer> {
  const connection = new Connection(port)
  try {
    return await connection.ask(text)
  } finally {
    connection.close()
  }
}

/** The same asked until somebody listens there. */
export async function askUntilAnswered(port: number, text: string): Promise<Answer> {
  for (;;) {
    try {
      return await ask(port, text)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error
      await pause(1)
    }
  }
}

function parse(received: string): Answer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...fields] = received.slice(0, end).split('\r\n')
  const headers = fields.map((field): [string, string] => {
    const colon = field.indexOf(':')
    return [field.slice(0, colon), field.slice(colon + 1).trim()]
  })
  const bodyLength = Number(headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0)
  const body = received.slice(end + 4)
  return body.length < bodyLength ? undefined : { status: Number(first.split(' ')[1]), headers, body }
}
