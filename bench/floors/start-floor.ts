// Starts a floor (floor.ts) with responses that Carillon sent.
import assert from 'node:assert/strict'
import { type HttpResponse, request } from '../load/requests.ts'
import { BenchProcess } from '../processes/processes.ts'
import type { Role } from '../report/machine.ts'
import type { Bench } from '../report/scenario.ts'
import type { FloorRequest } from './floor.ts'

export type Server = { port: number; process: BenchProcess }
type Sent = { port: number; texts: readonly string[]; status?: number; database?: string }

/** Sends what the service at `port` responds to `texts`, one after another, equal in every byte except the date. */
export async function startFloor(bench: Bench, { port, texts, status = 200, database }: Sent): Promise<Server> {
  const responses = await Promise.all(texts.map((text) => request(port, text)))
  for (const response of responses) assert.equal(response.status, status, response.body)
  const floor = await start(bench, { responses, ...(database !== undefined && { database }) }, 'server')
  assert.deepEqual(dateless(await request(floor.port, texts[0] as string)), dateless(responses[0] as HttpResponse))
  return floor
}

/** Keeps responses open, and writes events to them. */
export function startStreamFloor(bench: Bench): Promise<Server> {
  return start(bench, { streams: true }, 'anywhere')
}

async function start(bench: Bench, question: FloorRequest, role: Role): Promise<Server> {
  const process = bench.using(BenchProcess.of('../floors/floor.ts', role))
  const { port } = await process.request<{ port: number }>(question)
  return { port, process }
}

function dateless(response: HttpResponse): HttpResponse {
  return { ...response, headers: response.headers.map(([name, value]) => [name, name === 'Date' ? '' : value]) }
}
