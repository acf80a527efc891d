// The floor of the live streams: what does this machine give a bare node:http server that keeps its responses and writes
// the very bytes of Carillon's events to them? A GET opens a stream, a POST writes the event: to the stream that was opened
// on its path, or by /all to each. Runs as a process of its own.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ProbeQuestion, probe } from '../processes/probe.ts'
import { answerQuestions } from '../processes/respond.ts'

/** `fields`: name, value, name, value, without those that Node writes by itself. */
export type Told = { fields: string[]; greeting: string; event: string }

const streams = new Map<string, ServerResponse>()

function serve({ fields, greeting, event }: Told): Promise<{ port: number }> {
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

answerQuestions((question: ProbeQuestion | Told) => ('event' in question ? serve(question) : probe(question)))
