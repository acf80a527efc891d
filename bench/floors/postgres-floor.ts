// The floor for requests that cost one round trip to PostgreSQL: a bare node:http server that runs the statement which
// Carillon runs for an unchanged inbox, through a pool of the same kind, and sends the bytes of Carillon's response. Runs in
// a separate process on the core of the measured service.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openPool } from '../../server/store/postgres/connection/pool.ts'
import type { HttpResponse } from '../load/requests.ts'
import { type ProbeRequest, probe } from '../processes/probe.ts'
import { serveRequests } from '../processes/respond.ts'

/** Each request uses the next values of the statement and gets the next response. */
export type FloorRequest = {
  url: string
  name: 'session' | 'inbox'
  values: string[][]
  responses: HttpResponse[]
}

/** The texts of findSession and readInbox. */
const statements = {
  session: `select s.username, s.created_at, s.last_seen_at,
    coalesce(i.version, 0), coalesce(i.first_seq, 1), coalesce(i.last_seq, 0),
    coalesce(i.total, 0), coalesce(i.unread, 0), coalesce(i.read_through, 0)
    from session s left join inbox i on i.user_id = $1
    where s.user_id = $1 and s.secret_hash = $2`,
  inbox: `select version, first_seq, last_seq, total, unread, read_through from inbox where user_id = $1`,
}

/** Node adds these fields. */
const ofNode = new Set(['date', 'connection', 'keep-alive'])

function serve({ url, name, values, responses }: FloorRequest): Promise<{ port: number }> {
  const pool = openPool(url)
  const written = responses.map(({ headers }) => headers.filter(([field]) => !ofNode.has(field.toLowerCase())).flat())
  const queries = values.map((of) => ({ name, text: statements[name], values: of, rowMode: 'array' as const }))
  let next = 0
  const server = createServer(async (_request, response) => {
    const turn = next++
    const { rows } = await pool.query(queries[turn % queries.length] as (typeof queries)[number])
    const at = turn % responses.length
    response.writeHead(rows.length === 1 ? 200 : 500, written[at])
    response.end(responses[at]?.body)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as AddressInfo).port }))
  })
}

serveRequests((question: ProbeRequest | FloorRequest) => ('responses' in question ? serve(question) : probe(question)))
