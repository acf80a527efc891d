// Sends requests to a service: through `fetch`, or byte by byte where fetch would change them. With
// TEST_CLIENT=1 the typed client sends those for which it has a method (through-client.ts).
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import type { Proof } from '../service.ts'
import { noteRenewedProof, withNewestProof } from '../sign-in/renewed-cookies.ts'
import { isAsDescribed } from './described-responses.ts'
import { patientFetch } from './patient-fetch.ts'
import { throughClient } from './through-client.ts'
import { wholeText, wholeTextOf } from './whole-text.ts'

export type HttpResponse = {
  status: number
  headers: Headers
  text: string
  json: () => ReturnType<typeof JSON.parse>
}

export function requestsTo(address: string) {
  const port = Number(new URL(address).port)

  async function fetchJson(
    path: string,
    { headers, ...rest }: RequestInit = {},
  ): Promise<HttpResponse> {
    const sent = withNewestProof((headers ?? {}) as Proof)
    const response = await sendJson(path, { ...rest, headers: sent })
    noteRenewedProof(path, sent, response)
    return response
  }

  async function sendJson(path: string, init: RequestInit): Promise<HttpResponse> {
    const received =
      process.env.TEST_CLIENT === '1' ? await throughClient(address, path, init) : undefined
    if (received !== undefined) return received
    const response = await patientFetch(address + path, init)
    const text = await wholeTextOf(response)
    const { status, headers } = response
    if (!response.redirected) isAsDescribed(init.method ?? 'GET', path, { status, headers, text })
    return { status, headers, text, json: () => JSON.parse(text) }
  }

  return {
    get: (path: string, headers: Proof = {}) => fetchJson(path, { headers }),
    post: (path: string, body?: unknown, headers: Proof = {}) =>
      fetchJson(path, jsonOf('POST', headers, body)),
    patch: (path: string, headers: Proof = {}, body?: unknown) =>
      fetchJson(path, jsonOf('PATCH', headers, body)),
    delete: (path: string, headers: Proof = {}) => fetchJson(path, { method: 'DELETE', headers }),
    request: fetchJson,

    /** fetch would normalize path, method and repeated fields. */
    exchange(
      path: string,
      {
        method = 'GET',
        fields = [],
        body,
      }: { method?: string; fields?: readonly [string, string][]; body?: string } = {},
    ): Promise<HttpResponse> {
      const wire = [['host', new URL(address).host], ['connection', 'close'], ...fields]
      if (body !== undefined) wire.push(['content-length', String(Buffer.byteLength(body))])
      return new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path, method, headers: wire.flat() }
        const outgoing = httpRequest(options, async (response) => {
          const headers = new Headers()
          for (const [name, values = []] of Object.entries(response.headersDistinct))
            for (const value of values) headers.append(name, value)
          const text = await wholeText(response)
          resolve({ status: response.statusCode ?? 0, headers, text, json: () => JSON.parse(text) })
        })
        outgoing.on('error', reject)
        outgoing.end(body)
      })
    },

    /** Returns everything received until the service closes the new connection. */
    raw(bytes: string | Buffer, timeoutMs = 60_000): Promise<string> {
      return new Promise((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
        const chunks: Buffer[] = []
        socket.setTimeout(timeoutMs, () =>
          socket.destroy(new Error(`not closed after ${timeoutMs} ms`)),
        )
        socket.on('data', (chunk: Buffer) => chunks.push(chunk))
        socket.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
        socket.on('error', reject)
      })
    },
  }
}

function jsonOf(method: string, headers: Proof, body: unknown): RequestInit {
  if (body === undefined) return { method, headers }
  return {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}
