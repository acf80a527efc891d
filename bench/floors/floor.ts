// The floor: what does this machine give a bare node:http server that sends the very bytes of Carillon's answers, and does
// nothing else? Runs as a process of its own, on the core of the server that it stands beside.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer } from '../load/requests.ts'
import { type ProbeQuestion, probe } from '../processes/probe.ts'
import { answerQuestions } from '../processes/respond.ts'

/** What Node writes by itself. */
const ofNode = new Set(['date', 'connection', 'keep-alive'])

/** The answers in turn: as many different bytes go through the processor's caches as in Carillon. */
function serve(answers: readonly Answer[]): Promise<{ port: number }> {
  const ready = answers.map(({ status, headers, body }) => ({
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

answerQuestions((question: ProbeQuestion | { answers: Answer[] }) =>
  'answers' in question ? serve(question.answers) : probe(question),
)
