// Sends requests to this process as a browser would, by way of its listener: those of the thief, and those that are measured.
import { once } from 'node:events'
import { type Agent, type IncomingMessage, request } from 'node:http'
import { passedField } from '../../server/demonstration/pass-on.ts'
import type { Measured } from './api.ts'

/** `facts`: what the service would say about the request (requests.ts). `fields`: name, value, name, value. */
export type Sent = { method: string; url: URL; fields: readonly string[]; facts: string }
/** `bytes`: so far on the connection. */
type Answer = { status: number; n: number; ms: number; bytes: number }

const measuredRequests = 100
const timedRequests = 50

/** On the connection of an `agent` that has one socket. */
export async function send({ method, url, fields, facts }: Sent, agent: Agent): Promise<Answer> {
  const from = performance.now()
  const { hostname: host, port, pathname: path } = url
  const length = method === 'GET' ? [] : ['Content-Length', '0']
  const headers = [...fields, ...length, passedField, facts]
  const [received] = (await once(request({ host, port, path, method, agent, headers }).end(), 'response')) as [
    IncomingMessage,
  ]
  const { socket } = received
  await once(received.resume(), 'end')
  const n = Number(received.headers['carillon-exchange'])
  const bytes = socket.bytesRead + socket.bytesWritten
  return { status: received.statusCode ?? 0, n, bytes, ms: performance.now() - from }
}

/** One request after the other, on one connection. `reads`: how often the database of the world was read so far. */
export async function measure(sent: Sent, agent: Agent, reads: () => number): Promise<Measured> {
  const before = reads()
  const answers: Answer[] = []
  for (let n = 0; n < measuredRequests; n++) answers.push(await send(sent, agent))
  const times = answers.map(({ ms }) => ms).slice(-timedRequests)
  const own = measuredRequests * `${passedField}: ${sent.facts}\r\n`.length
  return {
    requests: measuredRequests,
    ms: Math.round((times.sort((a, b) => a - b)[timedRequests / 2] ?? 0) * 1_000) / 1_000,
    lookUps: reads() - before,
    bytes: (answers.at(-1)?.bytes ?? 0) - own,
  }
}
