// Sends requests exactly as given (any method, path, Host or Origin) over kept-alive connections.
import { Agent, type IncomingMessage, request } from 'node:http'
import type { HttpResponse } from '../service.ts'
import { wholeText } from './whole-text.ts'

export type HttpRequest = {
  method?: string
  path?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer
  /** A body in chunks has no `content-length`. */
  chunked?: boolean
}

export class HttpClient {
  readonly #agent: Agent
  readonly #url: URL

  constructor(url: string, { connections = 20 }: { connections?: number } = {}) {
    this.#url = new URL(url)
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  request({
    method = 'GET',
    path = '/',
    headers = {},
    body,
    chunked = false,
  }: HttpRequest): Promise<HttpResponse> {
    const { hostname, host, port } = this.#url
    // Node sends neither field for a GET by itself.
    const framing = chunked
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': String(Buffer.byteLength(body ?? '')) }
    const length = body === undefined ? {} : framing
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          agent: this.#agent,
          host: hostname,
          port,
          method,
          path,
          headers: { host, ...length, ...headers },
        },
        (incoming) => resolve(responseOf(incoming)),
      )
      outgoing.on('error', reject)
      if (chunked && body !== undefined) outgoing.write(body)
      outgoing.end(chunked ? undefined : body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Rejects if the connection breaks before the end of the response. */
export async function responseOf(incoming: IncomingMessage): Promise<HttpResponse> {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(incoming.headersDistinct))
    for (const value of values) headers.append(name, value)
  const text = await wholeText(incoming)
  return { status: incoming.statusCode ?? 0, headers, text, json: () => JSON.parse(text) }
}
