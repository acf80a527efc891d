// The floors: bare node:http servers that only send the bytes of Carillon's responses; that run one statement of PostgreSQL for each; or
// that keep responses open and write an event to them. Each runs in a process of its own.
import assert from 'node:assert/strict'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import type { Server } from '../load/load.ts'
import { type HttpResponse, request as send } from '../load/requests.ts'
import { BenchProcess } from '../processes/processes.ts'
import { serveRequests } from '../processes/respond.ts'
import type { Role } from '../report/machine.ts'
import type { Bench } from '../report/scenario.ts'

/** `database`: each response waits for a row that a statement finds by its key. 'streams': a POST writes an event to streams. */
type FloorRequest =
  | { responses: readonly HttpResponse[]; database?: string | undefined }
  | { streams: true }
type Sent = {
  port: number
  texts: readonly string[]
  status?: number
  database?: string | undefined
}

/** Sends what the service at `port` responds to `texts`, one after another, equal in every byte except the date. */
export async function startFloor(
  bench: Bench,
  { port, texts, status = 200, database }: Sent,
): Promise<Server> {
  const responses = await Promise.all(texts.map((text) => send(port, text)))
  for (const response of responses) assert.equal(response.status, status, response.body)
  const floor = await start(bench, { responses, database }, 'server')
  assert.deepEqual(
    dateless(await send(floor.port, texts[0] as string)),
    dateless(responses[0] as HttpResponse),
  )
  return floor
}

/** Keeps responses open, and writes events to them. */
export function startStreamFloor(bench: Bench): Promise<Server> {
  return start(bench, { streams: true }, 'anywhere')
}

async function start(bench: Bench, question: FloorRequest, role: Role): Promise<Server> {
  const process = BenchProcess.of(bench, import.meta.filename, role)
  const { port } = await process.request<{ port: number }>(question)
  return { port, process }
}

function dateless(response: HttpResponse): HttpResponse {
  return {
    ...response,
    headers: response.headers.map(([name, value]) => [name, name === 'Date' ? '' : value]),
  }
}

/** Node adds these fields. */
const ofNode = new Set(['date', 'connection', 'keep-alive'])
const keys = 100
/** About as long as that of Carillon. */
const event = `event: created\nid: ${'0'.repeat(40)}\ndata: {"notification":{"title":"${'x'.repeat(390)}"}}\n\n`

async function serveResponses(
  responses: readonly HttpResponse[],
  database?: string,
): Promise<{ port: number }> {
  const ready = responses.map(({ status, headers, body }) => ({
    status,
    written: headers.filter(([name]) => !ofNode.has(name.toLowerCase())).flat(),
    body,
  }))
  const query = database === undefined ? undefined : await queryOf(database)
  let next = 0
  return listen(async (_request, response) => {
    const { status, written, body } = ready[next++ % ready.length] as (typeof ready)[number]
    if (query !== undefined) await query(`key ${next % keys}`)
    response.writeHead(status, written)
    response.end(body)
  })
}

/** Through a pool and a prepared statement, as the service does it. */
async function queryOf(database: string) {
  const pool = new pg.Pool({ connectionString: database, max: 10 })
  await pool.query(
    'create table if not exists floor (key text primary key, version bigint, total bigint, unread bigint)',
  )
  await pool.query(
    `insert into floor select 'key ' || n, n, n, n from generate_series(0, ${keys - 1}) n on conflict do nothing`,
  )
  const text = 'select version, total, unread from floor where key = $1'
  return (key: string) => pool.query({ name: 'floor', text, values: [key], rowMode: 'array' })
}

/** A GET opens a stream. A POST writes the event to the stream that was opened on the same path, or to every one if the path is /all. */
function serveStreams(): Promise<{ port: number }> {
  const streams = new Map<string, ServerResponse>()
  const bytes = Buffer.from(event)
  return listen((request, response) => {
    const path = request.url as string
    if (request.method === 'GET') {
      response.useChunkedEncodingByDefault = false
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      response.write('event: hello\ndata: {}\n\n')
      response.once('close', () => streams.delete(path))
      streams.set(path, response)
      return
    }
    request.resume().once('end', () => {
      if (path !== '/all') streams.get(path)?.write(bytes)
      else for (const stream of streams.values()) stream.write(bytes)
      response.writeHead(201, { 'content-length': '0' })
      response.end()
    })
  })
}

function listen(listener: RequestListener): Promise<{ port: number }> {
  const server = createServer(listener)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as AddressInfo).port }))
  })
}

if (import.meta.main)
  serveRequests((question: FloorRequest) =>
    'streams' in question ? serveStreams() : serveResponses(question.responses, question.database),
  )
