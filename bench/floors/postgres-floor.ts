// The floor where each request costs a round trip to PostgreSQL: what does this machine give a bare node:http server that
// makes the one statement that Carillon makes for an unchanged inbox, through a pool of the same kind, sends the very
// bytes of its answer, and does nothing else? A process of its own, on the core of the service that it stands beside.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openPool } from '../../server/store/postgres/connection/connection.ts'
import { statements } from '../../server/store/postgres/statements.ts'
import type { Answer } from '../load/requests.ts'
import { type ProbeQuestion, probe } from '../processes/probe.ts'
import { answerQuestions } from '../processes/respond.ts'

/** Each request takes the next values of the statement, and is sent the next answer. */
export type FloorQuestion = {
  url: string
  name: 'session' | 'inbox'
  values: string[][]
  answers: Answer[]
}

/** What Node writes by itself. */
const ofNode = new Set(['date', 'connection', 'keep-alive'])

function serve({ url, name, values, answers }: FloorQuestion): Promise<{ port: number }> {
  const pool = openPool(url)
  const written = answers.map(({ headers }) => headers.filter(([field]) => !ofNode.has(field.toLowerCase())).flat())
  const queries = values.map((of) => ({ name, text: statements[name], values: of, rowMode: 'array' as const }))
  let next = 0
  const server = createServer(async (_request, response) => {
    const turn = next++
    const { rows } = await pool.query(queries[turn % queries.length] as (typeof queries)[number])
    const at = turn % answers.length
    response.writeHead(rows.length === 1 ? 200 : 500, written[at])
    response.end(answers[at]?.body)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as AddressInfo).port }))
  })
}

answerQuestions((question: ProbeQuestion | FloorQuestion) =>
  'answers' in question ? serve(question) : probe(question),
)
