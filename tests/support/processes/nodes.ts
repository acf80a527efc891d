// Several processes of one service share a database, a secret and a public URL, so that every node
// accepts the proofs of every other. A restarted node keeps its port.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../network/free-port.ts'
import type { TcpProxy } from '../network/tcp-proxy.ts'
import { newDatabase } from '../postgres.ts'
import { CarillonProcess, type Environment, Folder, firstSignInOf } from './carillon-process.ts'
import { type SignIn, UserOfService } from './user-of-service.ts'

const readyWithinMs = 120_000
const secret = 'the same on every node, and long enough'

export class Node implements AsyncDisposable {
  readonly port: number
  readonly #start: (changes?: Environment) => CarillonProcess
  #process: CarillonProcess
  #users: UserOfService[] = []

  constructor(port: number, start: (changes?: Environment) => CarillonProcess) {
    this.port = port
    this.#start = start
    this.#process = start()
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get process(): CarillonProcess {
    return this.#process
  }

  /** The next start may have changed settings. */
  async again(changes?: Environment): Promise<void> {
    this.#process = this.#start(changes)
    await this.isReady(changes)
  }

  /**
   * If the machine paused for as long as the service waits for its database, it starts once more,
   * as under a supervisor.
   */
  async isReady(changes?: Environment): Promise<void> {
    const delay = monitorEventLoopDelay({ resolution: 20 })
    delay.enable()
    await this.#process.isReady().catch((error: unknown) => {
      if (delay.max < 1.5e9) throw error
      this.#process = this.#start(changes)
      return this.#process.isReady()
    })
    delay.disable()
  }

  user(signIn: SignIn): UserOfService {
    const user = new UserOfService(this.url, signIn)
    this.#users.push(user)
    return user
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const user of this.#users) user.close()
    await this.#process[Symbol.asyncDispose]()
  }
}

export type Engine = 'SQLite' | 'PostgreSQL'
export const engines: readonly Engine[] = ['SQLite', 'PostgreSQL']

type NodeOptions = { databaseUrl?: string; launcher?: string }

export class Nodes implements AsyncDisposable {
  readonly #folder = new Folder()
  readonly #settings: Environment
  readonly #all: Node[] = []
  readonly databaseUrl: string
  readonly #drop: () => Promise<void>

  constructor(
    databaseUrl: string,
    settings: Environment = {},
    drop: () => Promise<void> = async () => {},
  ) {
    this.databaseUrl = databaseUrl
    this.#settings = settings
    this.#drop = drop
  }

  /** On a database of their own, which has Carillon's schema on PostgreSQL unless `isBare`. */
  static async on(
    engine: Engine,
    { settings, isBare = false }: { settings?: Environment; isBare?: boolean } = {},
  ): Promise<Nodes> {
    if (engine === 'SQLite') return new Nodes('sqlite:carillon.db', settings)
    const { url, drop } = await newDatabase({ isBare })
    return new Nodes(url, settings, drop)
  }

  /** Waits until the node listens. `databaseUrl` may lead to the database through a proxy. */
  async add(options: NodeOptions = {}): Promise<Node> {
    const node = await this.begin(options)
    await node.isReady()
    return node
  }

  /** Does not wait until the node listens. */
  async begin({ databaseUrl = this.databaseUrl, launcher }: NodeOptions = {}): Promise<Node> {
    const port = await freePort()
    const env = {
      ...this.environment,
      ...this.#settings,
      CARILLON_DATABASE_URL: databaseUrl,
      CARILLON_PORT: `${port}`,
    }
    const start = (changes: Environment = {}) =>
      new CarillonProcess(this.#folder, {
        env: { ...env, ...changes },
        ...(launcher && { launcher }),
      })
    const node = new Node(port, start)
    this.#all.push(node)
    return node
  }

  get environment(): Environment {
    return {
      CARILLON_DATABASE_URL: this.databaseUrl,
      CARILLON_SECRET: secret,
      CARILLON_PUBLIC_URL: 'http://127.0.0.1:7464',
    }
  }

  get folder(): Folder {
    return this.#folder
  }

  get firstSignIn(): SignIn {
    return firstSignInOf(this.#folder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.#all) await node[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
    await this.#drop()
  }
}

/** Returns how many milliseconds it took until `isSo` returned true. Throws after `withinMs`. */
export async function untilSo(
  isSo: () => Promise<boolean>,
  withinMs = readyWithinMs,
): Promise<number> {
  const startedAt = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startedAt > withinMs)
      throw new Error(`Not so within ${withinMs} ms: ${isSo}`)
    await sleep(10)
  }
  return performance.now() - startedAt
}

/**
 * Two of at most ten tries must be quick, one after the other: a pause of the machine makes some of
 * them slow.
 */
export async function isUsuallyQuick(isQuick: () => Promise<boolean>): Promise<void> {
  let wasQuick = false
  for (let tries = 0; tries < 10; tries++) {
    const quick = await isQuick()
    if (quick && wasQuick) return
    wasQuick = quick
  }
  throw new Error('of ten tries no two that follow each other were quick')
}

/** While `isDeaf`, a node that uses this proxy receives no change signals and does not notice. */
export function hearingThrough(proxy: TcpProxy): { isDeaf: boolean } {
  const hearing = { isDeaf: false }
  proxy.intercept = ({ direction, bytes, notes }) => {
    if (!hearing.isDeaf && bytes.includes('carillon change signals')) notes.add('change signals')
    return hearing.isDeaf && notes.has('change signals') && direction === 'to client'
      ? {}
      : undefined
  }
  return hearing
}
