// Starts the Carillon of a checkout as shipped: the command `serve` in a separate process, with its log in a file. Only the address,
// the database and the secret are set.
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { request, requestText } from '../load/requests.ts'
import { BenchProcess } from '../processes/processes.ts'
import type { Role } from '../report/machine.ts'
import type { Checkout } from './checkout.ts'

/** `settings`: of a command on the same database. */
export type Service = {
  checkout: Checkout
  port: number
  process: BenchProcess
  settings: Record<string, string>
  stop(): Promise<void>
}
/** A checkout, and the folder of its log and of its database, unless `database` is the URL of another one. */
export type Place = { checkout: Checkout; dir: string; database?: string }

const preload = new URL('../processes/preload.ts', import.meta.url).href

export function databaseIn(dir: string): string {
  return join(dir, 'carillon.db')
}

/** Resolves with the first 200. */
export async function startService({
  role = 'server',
  settings: more = {},
  ...place
}: Place & { role?: Role; settings?: Record<string, string> }): Promise<Service> {
  const { checkout, dir } = place
  const port = await freePort()
  const settings = { ...settingsOf(place, port), ...more }
  const log = openSync(join(dir, 'carillon.log'), 'a')
  const process = new BenchProcess({
    args: ['--import', preload, join(checkout.root, 'server/bin/launch.js'), 'serve'],
    role,
    output: log,
    env: settings,
  })
  closeSync(log)
  await Promise.race([untilReady(port), process.death])
  return { checkout, port, process, settings, stop: () => process.stop() }
}

export function settingsOf({ dir, database = `sqlite:${databaseIn(dir)}` }: Place, port: number) {
  return {
    CARILLON_PORT: String(port),
    CARILLON_DATABASE_URL: database,
    // Fixed, since tokens name their issuer and the port differs between runs.
    CARILLON_PUBLIC_URL: 'http://127.0.0.1:7464',
    CARILLON_SECRET: 'a secret that the bench needs only while it runs',
  }
}

/** Repeats while the port is closed, and while the service responds 503, since it is not ready yet. */
export async function untilReady(port: number): Promise<void> {
  for (;;) {
    const response = await request(port, requestText('GET', '/readyz')).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return undefined
      throw error
    })
    if (response?.status === 200) return
    if (response !== undefined && response.status !== 503) throw new Error(`not ready: ${response.body}`)
    await pause(1)
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
