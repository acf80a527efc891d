// Sends requests to this process as a browser would, by way of its listener: those of the thief, and those that are measured.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { passedField } from '../../server/demonstration/pass-on.ts'
import type { Measured } from './api.ts'

/** `facts`: what the service would say about the request (requests.ts). `fields`: name, value, name, value. */
export type Sent = { method: string; url: URL; fields: readonly string[]; facts: string }
type Answer = { status: number; n: number; ms: number }

const measuredRequests = 100
const timedRequests = 50

export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #bytes = 0

  async send({ method, url, fields, facts }: Sent): Promise<Answer> {
    const from = performance.now()
    const { hostname: host, port, pathname: path } = url
    const length = method === 'GET' ? [] : ['Content-Length', '0']
    const headers = [...fields, ...length, passedField, facts]
    const sent = request({ host, port, path, method, agent: this.#agent, headers }).end()
    const [received] = (await once(sent, 'response')) as [IncomingMessage]
    const socket = received.socket
    received.resume()
    await once(received, 'end')
    this.#bytes = socket.bytesRead + socket.bytesWritten
    const n = Number(received.headers['carillon-exchange'])
    return { status: received.statusCode ?? 0, n, ms: performance.now() - from }
  }

  /** One request after the other, on one connection. `reads`: how often the database of the world was read so far. */
  async measure(sent: Sent, reads: () => number): Promise<Measured> {
    const before = reads()
    const times: number[] = []
    for (let n = 0; n < measuredRequests; n++) times.push((await this.send(sent)).ms)
    const timed = times.slice(-timedRequests).sort((a, b) => a - b)
    const own = measuredRequests * `${passedField}: ${sent.facts}\r\n`.length
    return {
      requests: measuredRequests,
      ms: Math.round((timed[timedRequests / 2] ?? 0) * 1_000) / 1_000,
      lookUps: reads() - before,
      bytes: this.#bytes - own,
    }
  }

  end(): void {
    this.#agent.destroy()
  }
}
