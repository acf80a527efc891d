// Starts the Carillon of a checkout as shipped: the command `serve` in a separate process, with its log in a file. Only the address,
// the database and the secret are set.
import { closeSync, openSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../tests/support/network/free-port.ts'
import type { Server } from '../load/load.ts'
import { request, requestText } from '../load/requests.ts'
import { BenchProcess } from '../processes/processes.ts'
import type { Role } from '../report/machine.ts'
import type { Bench } from '../report/scenario.ts'
import type { Checkout } from './checkout.ts'

/** `settings`: of a command on the same database. */
export type Service = Server & {
  checkout: Checkout
  settings: Record<string, string>
  startedInMs: number
  stop(): Promise<void>
}
type Options = {
  role?: Role
  /** The folder of its log and of its database, unless `database` is the URL of another one. */
  dir?: string
  database?: string | undefined
  /** Settings beside the usual ones. */
  settings?: Record<string, string>
  /** Starts it as `npm start` does: by the command in package.json, with the packages in PATH. It loads nothing of the bench. */
  asNpm?: boolean
}

const preload = new URL('../processes/preload.ts', import.meta.url).href

export function databaseIn(dir: string): string {
  return join(dir, 'carillon.db')
}

/** Resolves with the first 200. */
export async function startService(
  bench: Bench,
  {
    role = 'server',
    dir = bench.dir,
    database = `sqlite:${databaseIn(dir)}`,
    settings: more,
    asNpm = false,
  }: Options = {},
): Promise<Service> {
  const { checkout } = bench
  const port = await freePort()
  const settings = {
    CARILLON_PORT: String(port),
    CARILLON_DATABASE_URL: database,
    // Fixed, since tokens name their issuer and the port differs between runs.
    CARILLON_PUBLIC_URL: 'http://127.0.0.1:7464',
    CARILLON_SECRET: 'a secret that the bench needs only while it runs',
    ...more,
  }
  const at = (path: string) => join(checkout.root, path)
  const command = asNpm
    ? ['sh', '-c', JSON.parse(readFileSync(at('package.json'), 'utf8')).scripts.start as string]
    : [process.execPath, '--import', preload, at('server/bin/launch.js'), 'serve']
  const env = {
    ...settings,
    ...(asNpm && { PATH: [at('node_modules/.bin'), process.env.PATH].join(delimiter) }),
  }
  const output = openSync(join(dir, 'carillon.log'), 'a')
  const startedAt = performance.now()
  const service = new BenchProcess(bench, {
    command,
    role,
    cwd: checkout.root,
    env,
    output,
    responds: !asNpm,
  })
  closeSync(output)
  await Promise.race([untilReady(port), service.death])
  const startedInMs = performance.now() - startedAt
  return { checkout, port, process: service, settings, startedInMs, stop: () => service.stop() }
}

/** The port is closed at first. The service responds 503 until it is ready. */
async function untilReady(port: number): Promise<void> {
  const isReady = async () => (await request(port, requestText('GET', '/readyz'))).status === 200
  while (!(await isReady().catch(() => false))) await pause(1)
}
