// Starts the Carillon of a checkout as shipped: the command `serve` in a separate process, with its log in a file. Only the address,
// the database and the secret are set.
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { requestText, requestUntilListening } from '../load/requests.ts'
import { BenchProcess, type Start } from '../processes/processes.ts'
import type { Role } from '../report/machine.ts'
import type { Checkout } from './checkout.ts'

/** Fixed, since tokens name their issuer and the port differs between runs. */
export const publicUrl = 'http://127.0.0.1:7464'
export const secret = 'a secret that the bench needs only while it runs'

export type Service = { port: number; process: BenchProcess; startedInMs: number; stop(): Promise<void> }
export type ServiceOptions = Pick<Start, 'env' | 'under'> & {
  checkout: Checkout
  dir: string
  role?: Role
}

const preload = new URL('../processes/preload.ts', import.meta.url).href

export function databaseIn(dir: string): string {
  return join(dir, 'carillon.db')
}

/** Resolves with the first 200. */
export async function startService({
  checkout,
  dir,
  role = 'server',
  env = {},
  under = [],
}: ServiceOptions): Promise<Service> {
  const port = await freePort()
  const log = openSync(join(dir, 'carillon.log'), 'a')
  const startedAt = performance.now()
  const process = new BenchProcess({
    args: ['--import', preload, join(checkout.root, 'server/bin/launch.js'), 'serve'],
    role,
    under,
    output: log,
    env: { ...settingsOf({ port, dir }), ...env },
  })
  closeSync(log)
  await Promise.race([untilReady(port), process.death])
  return { port, process, startedInMs: performance.now() - startedAt, stop: () => process.stop() }
}

export function settingsOf({ port, dir }: { port: number; dir: string }): Record<string, string> {
  return {
    CARILLON_PORT: String(port),
    CARILLON_DATABASE_URL: `sqlite:${databaseIn(dir)}`,
    CARILLON_PUBLIC_URL: publicUrl,
    CARILLON_SECRET: secret,
  }
}

/** Repeats while the service responds 503, since it is not ready yet. */
export async function untilReady(port: number): Promise<void> {
  for (;;) {
    const { status, body } = await requestUntilListening(port, requestText('GET', '/readyz'))
    if (status === 200) return
    if (status !== 503) throw new Error(`the service is not ready: ${status} ${body}`)
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
