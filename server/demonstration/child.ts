// The demonstration runs in a process of its own (demonstration/server/): its readers take neither memory nor processor time from this one.
// It starts at the first request below `/demonstration`, and ends after ten minutes without one, or with the service.
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { overloaded } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import { addressOf } from '../http/request/address.ts'
import type { Site } from '../http/site.ts'
import { type Listener, passOn } from './pass-on.ts'

/** What the process needs to know. The settings and secrets of the service are not among it. */
export type ChildSettings = {
  secret: string
  /** The public URL, and the prefix of the pages. */
  url: string
  prefix: string
  hosts: readonly string[]
  hstsSubdomains: boolean
}
type Running = Listener & { child: ChildProcess }

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const idleMs = 600_000
const endsWithinMs = 3_000
const maxHeapMib = 256
const entry = new URL('../../demonstration/server/main.ts', import.meta.url)
/** Where temporary files and compiled code lie, and what Windows needs. */
const inherited = /^(TMPDIR|TEMP|TMP|SYSTEMROOT|NODE_COMPILE_CACHE|NODE_V8_COVERAGE)$/i

export class Demonstration {
  readonly #settings: () => Omit<ChildSettings, 'secret'>
  readonly #log: Log
  #running: Promise<Running> | undefined
  #idle: NodeJS.Timeout | undefined
  #isEnding = false

  constructor(settings: () => Omit<ChildSettings, 'secret'>, log: Log) {
    this.#settings = settings
    this.#log = log
  }

  /** Passes on every request below the page, after the request checks and before its body is read. */
  addTo(app: FastifyInstance, prefix: string, { trustedProxies }: Pick<Site, 'trustedProxies'>): void {
    const onRequest = async ({ raw }: FastifyRequest, reply: FastifyReply) => {
      const running = await this.whenRunning()
      await passOn([raw, reply.raw], running, [addressOf(raw, trustedProxies)]).catch(notThere)
      reply.hijack()
    }
    app.route({ method: [...methods], url: `${prefix}/demonstration/*`, onRequest, handler: notThere })
  }

  whenRunning(): Promise<Running> {
    if (this.#isEnding) return notThere()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#stop(), idleMs).unref()
    this.#running ??= this.#start()
    return this.#running
  }

  async #start(): Promise<Running> {
    const { fork } = await import('node:child_process')
    const secret = randomBytes(32).toString('base64url')
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => inherited.test(name)))
    const execArgv = ['--disable-sigusr1', `--max-old-space-size=${maxHeapMib}`]
    const child = fork(entry, {
      execArgv,
      env: { ...env, MALLOC_ARENA_MAX: '2' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.once('exit', () => {
      this.#running = undefined
    })
    // The secret is in no list of processes.
    child.send({ ...this.#settings(), secret } satisfies ChildSettings)
    const failed = once(child, 'exit').then(([status]) => {
      this.#log.warn({ event: 'demonstration-failed', status }, 'the process of the demonstration ended')
      return notThere()
    })
    const [port] = (await Promise.race([once(child, 'message'), failed])) as [number]
    return { child, port, secret, agent: new Agent({ keepAlive: true }) }
  }

  async #stop(): Promise<void> {
    const running = await this.#running?.catch(() => undefined)
    this.#running = undefined
    if (running === undefined) return
    const { child, agent } = running
    agent.destroy()
    if (child.exitCode !== null) return
    const kill = setTimeout(() => child.kill('SIGKILL'), endsWithinMs)
    child.disconnect()
    await once(child, 'exit')
    clearTimeout(kill)
  }

  /** Ends the process, and starts no other. */
  async end(): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#idle)
    await this.#stop()
  }
}

const notThere = () => Promise.reject(overloaded('The demonstration is not there'))
