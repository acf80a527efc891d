// HTTP requests as text, and connections that send them and parse the response.
import { connect, type Socket } from 'node:net'

export type HttpResponse = {
  status: number
  headers: [name: string, value: string][]
  body: string
}

/** A header line with a proof or a producer key. */
export type ProofLine = string

export function requestText(
  method: string,
  path: string,
  { proof, body }: { proof?: ProofLine; body?: string } = {},
): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Accept: application/json']
  if (proof !== undefined) lines.push(proof)
  if (body !== undefined)
    lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
}

/** A kept-alive connection with one request at a time. */
export class Connection {
  readonly #socket: Socket
  readonly #pieces: AsyncIterator<string>

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    this.#pieces = this.#socket[Symbol.asyncIterator]()
  }

  async request(text: string): Promise<HttpResponse> {
    this.#socket.write(text, 'latin1')
    for (let received = ''; ; ) {
      const { value, done } = await this.#pieces.next()
      if (done) throw new Error(`the response is incomplete: ${received.slice(0, 1_000)}`)
      received += value
      const response = parse(received)
      if (response !== undefined) return response
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}

/** Sends one request on a new connection. */
export async function request(port: number, text: string): Promise<HttpResponse> {
  using connection = new Connection(port)
  return await connection.request(text)
}

function parse(received: string): HttpResponse | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...fields] = received.slice(0, end).split('\r\n')
  const headers = fields.map((field) => field.split(/: *(.*)/, 2) as [name: string, value: string])
  const bodyLength = Number(
    headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0,
  )
  const body = received.slice(end + 4)
  return body.length < bodyLength
    ? undefined
    : { status: Number(first.split(' ')[1]), headers, body }
}
