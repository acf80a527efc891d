// The floor of the live streams: a bare node:http server that keeps its responses open and writes the bytes of Carillon's
// events to them. A GET opens a stream. A POST writes the event to the stream that was opened on the same path, or to every
// stream if the path is /all. Runs in a separate process.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ProbeRequest, probe } from '../processes/probe.ts'
import { serveRequests } from '../processes/respond.ts'

/** `fields`: name, value, name, value, without the fields that Node adds. */
export type StreamSample = { fields: string[]; greeting: string; event: string }

const streams = new Map<string, ServerResponse>()

function serve({ fields, greeting, event }: StreamSample): Promise<{ port: number }> {
  const [greetingBytes, eventBytes] = [Buffer.from(greeting), Buffer.from(event)]
  const server = createServer((request, response) => {
    const path = request.url as string
    if (request.method === 'GET') {
      response.useChunkedEncodingByDefault = false
      response.writeHead(200, fields)
      response.write(greetingBytes)
      response.once('close', () => streams.delete(path))
      streams.set(path, response)
      return
    }
    request.resume().once('end', () => {
      if (path !== '/all') streams.get(path)?.write(eventBytes)
      else for (const stream of streams.values()) stream.write(eventBytes)
      response.writeHead(201, ['content-length', '0'])
      response.end()
    })
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as AddressInfo).port }))
  })
}

serveRequests((question: ProbeRequest | StreamSample) => ('event' in question ? serve(question) : probe(question)))
