// A separate process, so that readers take nothing from this one. It ends after ten idle minutes.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { Agent } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ChildSettings, Started } from '../../demonstration/server/settings.ts'
import { overloaded } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import { randomText } from '../basics/secrets.ts'
import { addressOf } from '../http/request/address.ts'
import type { Site } from '../http/site.ts'
import { type Listener, passOn } from './pass-on.ts'

type Running = Listener & { child: ChildProcess }

const idleMs = 600_000
const endsWithinMs = 3_000
const entry = new URL('../../demonstration/server/main.ts', import.meta.url)
const memoryOf = (places: number) => `--max-old-space-size=${Math.max(256, 22 * places)}`
const inherited = /^(TMPDIR|TEMP|TMP|SYSTEMROOT|NODE_COMPILE_CACHE|MALLOC_ARENA_MAX)$/i

export class Demonstration {
  readonly #settings
  readonly #log
  #running: Promise<Running> | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(settings: () => Omit<ChildSettings, 'secret'>, log: Log) {
    this.#settings = settings
    this.#log = log
  }

  addTo(
    app: FastifyInstance,
    prefix: string,
    { trustedProxies }: Pick<Site, 'trustedProxies'>,
  ): void {
    const onRequest = async ({ raw }: FastifyRequest, reply: FastifyReply) => {
      await passOn(
        [raw, reply.raw],
        await this.whenRunning(),
        addressOf(raw, trustedProxies),
      ).catch(notThere)
      reply.hijack()
    }
    const method = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
    app.route({
      method,
      url: `${prefix}/demonstration/*`,
      config: { isPassedOn: true },
      onRequest,
      handler: notThere,
    })
  }

  whenRunning(): Promise<Running> {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#stop(), idleMs).unref()
    if (this.#running !== undefined) return this.#running
    const running = this.#start()
    const forget = () => {
      if (this.#running === running) this.#running = undefined
    }
    running.then(({ child }) => child.once('exit', forget), forget)
    this.#running = running
    return running
  }

  async #start(): Promise<Running> {
    const { fork } = await import('node:child_process')
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => inherited.test(name)),
    )
    const settings = this.#settings()
    const execArgv = ['--disable-sigusr1', memoryOf(settings.places)]
    const child = fork(entry, { execArgv, env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }).on(
      'error',
      () => {},
    )
    const secret = randomText()
    // This way, no process list shows the secret.
    child.send({ ...settings, secret } satisfies ChildSettings)
    const failed = once(child, 'exit').then(([status]) => {
      if (status !== 0)
        this.#log.warn(
          { event: 'demonstration-failed', status },
          'the demonstration ended by itself',
        )
      return notThere()
    })
    const [{ port, folder }] = (await Promise.race([once(child, 'message'), failed])) as [Started]
    child.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    return { child, port, secret, agent: new Agent({ keepAlive: true }) }
  }

  async #stop(): Promise<void> {
    const { child, agent } = (await this.#running?.catch(() => undefined)) ?? {}
    this.#running = undefined
    if (child === undefined || (child.exitCode ?? child.signalCode) !== null) return
    agent?.destroy()
    setTimeout(() => child.kill('SIGKILL'), endsWithinMs).unref()
    child.disconnect()
    await once(child, 'exit')
  }

  async end(): Promise<void> {
    await this.#stop()
    this.#running = notThere()
    this.#running.catch(() => {})
  }
}

const notThere = () => Promise.reject(overloaded('The demonstration is not there'))
