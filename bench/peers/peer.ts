// What a peer is: another program that keeps users signed in and lists their notifications, from the npm registry. Each peer runs as
// its documentation starts it, in production mode, on PostgreSQL.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type HttpResponse, type ProofLine, request, requestText } from '../load/requests.ts'
import { BenchProcess } from '../processes/processes.ts'
import type { Database } from '../setup/postgres.ts'
import { freePort } from '../setup/service.ts'

export type Peer = {
  name: string
  /** The folder below data/peers/. */
  folder: string
  /** Exact versions. */
  packages: Readonly<Record<string, string>>
  /** Packages that these depend on, in another version. */
  overrides?: Readonly<Record<string, string>>
  /** Makes users with `inboxSize` notifications each, in an empty database, and stops the server again. */
  prepare(on: PeerOn): Promise<PeerWork>
  start(on: PeerOn): Promise<Running>
}

export type PeerOn = { folder: string; database: Database; users: number; inboxSize: number }
/** The requests that are measured: one list for each user, and deliveries to one user each. */
export type PeerWork = {
  lists: string[]
  deliveries: string[]
  /** The status of a delivery, if not 201. */
  created?: number
}
export type Running = { port: number; process: BenchProcess; startedInMs: number; stop(): Promise<void> }

/** The key that lets a server create notifications for every user. */
export const key = 'a-key-that-the-bench-needs-only-while-it-runs'
export const password = 'plum orchard gate 41'

/** About 300 characters, the same for all. */
export const content = {
  title: 'Your order 100001 is on its way',
  body: 'It left our warehouse this morning and should reach you within two working days.',
  url: '/orders/100001',
  category: 'orders',
  data: { order: 100_001, parcels: 1 },
}

const preload = new URL('../processes/preload.ts', import.meta.url).href
const programs = fileURLToPath(new URL('./programs/', import.meta.url))

/** Copies a program of the bench to where its packages are. */
export function placeProgram(name: string, folder: string): string {
  const path = join(folder, name)
  copyFileSync(join(programs, name), path)
  return path
}

type Starting = { args: readonly string[]; env: Readonly<Record<string, string>>; ready: string }

/** Resolves with the first response to `ready` that is no failure. */
export async function startPeer({ args, env, ready }: Starting): Promise<Running> {
  const port = await freePort()
  const startedAt = performance.now()
  const process = new BenchProcess({
    args: ['--import', preload, ...args],
    role: 'anywhere',
    env: { PORT: String(port), NODE_ENV: 'production', ...env },
  })
  await Promise.race([untilReady(port, ready), process.death])
  return { port, process, startedInMs: performance.now() - startedAt, stop: () => process.stop() }
}

async function untilReady(port: number, path: string): Promise<void> {
  for (;;) {
    const status = await request(port, requestText('GET', path)).then(
      (response) => response.status,
      () => 503,
    )
    if (status < 500) return
    await pause(5)
  }
}

export async function send(
  port: number,
  { method, path, body, proof }: { method: string; path: string; body?: object; proof?: string },
) {
  const text = requestText(method, path, {
    ...(proof !== undefined && { proof }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const response = await request(port, text)
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.body}`)
  return response
}

/** The cookies that a response sets, as a request sends them. */
export function cookieOf({ headers }: HttpResponse): ProofLine {
  const set = headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value.split(';')[0])
  return `Cookie: ${set.join('; ')}`
}
