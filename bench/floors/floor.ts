// The floor: how many requests per second does a bare node:http server reach on this machine, if it only sends the bytes of
// Carillon's responses? Runs in a separate process on the core of the measured server.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HttpResponse } from '../load/requests.ts'
import { type ProbeRequest, probe } from '../processes/probe.ts'
import { serveRequests } from '../processes/respond.ts'

/** Node adds these fields. */
const ofNode = new Set(['date', 'connection', 'keep-alive'])

/** Sends the responses one after another, so that as many different bytes pass through the processor's caches as in Carillon. */
function serve(responses: readonly HttpResponse[]): Promise<{ port: number }> {
  const ready = responses.map(({ status, headers, body }) => ({
    status,
    written: headers.filter(([name]) => !ofNode.has(name.toLowerCase())).flat(),
    body,
  }))
  let next = 0
  const server = createServer((_request, response) => {
    const { status, written, body } = ready[next++ % ready.length] as (typeof ready)[number]
    response.writeHead(status, written)
    response.end(body)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as AddressInfo).port }))
  })
}

serveRequests((question: ProbeRequest | { responses: HttpResponse[] }) =>
  'responses' in question ? serve(question.responses) : probe(question),
)
