// For tests: a whole service as `serve` puts it together, on a real file and a real port, with a clock that the test
// moves, and builders that read like the domain.
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, readConfig } from '../config.ts'
import type { DeliveryRequest } from '../inbox/deliver.ts'
import { createLog, type Log } from '../log.ts'
import { type Service, startService } from '../serve.ts'
import { Passwords } from '../sign-in/passwords.ts'
import { ProducerKeys, type Scope } from '../sign-in/producer-key.ts'
import { addUser } from '../sign-in/users.ts'

export type Variant = 'stateful' | 'stateless'
export const variants: readonly Variant[] = ['stateful', 'stateless']

export type TestUser = { id: string; username: string; password: string }
/** The header fields that carry a proof. */
export type Proof = Readonly<Record<string, string>>
export type Notification = { id: string; title: string; read: boolean; readAt: string | null; createdAt: string }
export type Listed = {
  items: Notification[]
  total: number
  hasMore: boolean
  unread: number
  version: number
  next: string | null
}

export type Answer = { status: number; headers: Headers; text: string; json: () => ReturnType<typeof JSON.parse> }

export type TestService = Awaited<ReturnType<typeof startTestService>>

const startOfTime = Date.UTC(2026, 0, 1)

export async function startTestService({
  env = {},
  dir = mkdtempSync(join(tmpdir(), 'carillon-')),
  log,
}: {
  env?: Environment
  dir?: string
  log?: Log
} = {}) {
  let time = startOfTime
  const now = () => time
  // One port for its whole life: the address is the issuer of its tokens, and they have to outlive a restart.
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const config = readConfig({
    CARILLON_PORT: String(port),
    CARILLON_DATABASE_URL: `sqlite:${join(dir, 'carillon.db')}`,
    CARILLON_FIRST_START: 'off',
    CARILLON_LOG: 'silent',
    ...env,
  })
  const quiet = log ?? (await createLog({ level: config.logLevel, isTerminal: false }))
  let service: Service = await startService(config, { log: quiet, now })
  const passwords = new Passwords({ threads: 4 })
  let names = 0

  async function fetchJson(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(address + path, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
  }

  return {
    dir,
    /** Where it answers, whatever its public URL is. */
    url: address,
    get store() {
      return service.store
    },
    now,
    /** Moves the clock on. */
    pass(ms: number) {
      time += ms
    },

    async user(name = `user${++names}`, password = 'plum orchard gate 41'): Promise<TestUser> {
      const { id, username } = await addUser(
        { store: service.store, passwords, passwordMinLength: config.passwordMin, now },
        { username: name, password },
      )
      return { id, username, password }
    },

    async signIn({ username, password }: Omit<TestUser, 'id'>, variant: Variant): Promise<Proof> {
      const answer = await this.post('/login', { username, password, variant })
      if (answer.status !== 200) throw new Error(`sign-in answered ${answer.status}: ${answer.text}`)
      if (variant === 'stateless') return { authorization: `Bearer ${answer.json().token}` }
      return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
    },

    async producerKey(scopes: readonly Scope[] = ['send'], expiresAt: number | null = null) {
      return new ProducerKeys({ store: service.store, now }).issue({ name: 'test', scopes, expiresAt })
    },

    /** Sends through HTTP, as a producer does; answers the ids of the notifications, in the order of the recipients. */
    async deliver({
      to,
      ...content
    }: { to: TestUser | TestUser[] } & Omit<DeliveryRequest, 'recipients'>): Promise<string[]> {
      const { key } = await this.producerKey()
      const recipients = [to].flat().map(({ username }) => ({ username }))
      const answer = await this.post(
        '/api/notifications',
        { recipients, ...content },
        { authorization: `Bearer ${key}` },
      )
      if (answer.status !== 201) throw new Error(`delivery answered ${answer.status}: ${answer.text}`)
      return answer.json().data.results.map(({ id }: { id: string }) => id)
    },

    async list(proof: Proof, query = ''): Promise<Listed> {
      const answer = await this.get(`/api/notifications${query}`, proof)
      if (answer.status !== 200) throw new Error(`list answered ${answer.status}: ${answer.text}`)
      return answer.json().data
    },

    get: (path: string, headers: Proof = {}) => fetchJson(path, { headers }),
    post: (path: string, body?: unknown, headers: Proof = {}) =>
      fetchJson(path, {
        method: 'POST',
        headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    patch: (path: string, headers: Proof = {}) => fetchJson(path, { method: 'PATCH', headers }),
    request: fetchJson,

    /** What fetch would tidy up goes out as it is written: the path, the method, a field that is sent twice. */
    exchange(
      path: string,
      {
        method = 'GET',
        fields = [],
        body,
      }: { method?: string; fields?: readonly [string, string][]; body?: string } = {},
    ): Promise<Answer> {
      const wire = [['host', new URL(address).host], ['connection', 'close'], ...fields]
      if (body !== undefined) wire.push(['content-length', String(Buffer.byteLength(body))])
      return new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path, method, headers: wire.flat() }
        const outgoing = httpRequest(options, async (answer) => {
          const headers = new Headers()
          for (const [name, values = []] of Object.entries(answer.headersDistinct))
            for (const value of values) headers.append(name, value)
          const text = Buffer.concat(await answer.toArray()).toString('utf8')
          resolve({ status: answer.statusCode ?? 0, headers, text, json: () => JSON.parse(text) })
        })
        outgoing.on('error', reject)
        outgoing.end(body)
      })
    },

    /** Writes bytes to a fresh connection and answers all that comes back until the other side ends it. */
    raw(bytes: string | Buffer, timeoutMs = 15_000): Promise<string> {
      return new Promise((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
        const chunks: Buffer[] = []
        socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no end after ${timeoutMs} ms`)))
        socket.on('data', (chunk: Buffer) => chunks.push(chunk))
        socket.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
        socket.on('error', reject)
      })
    },

    /** Stops and starts again on the same file, under the same clock. */
    async restart(): Promise<void> {
      await service.stop()
      service = await startService(config, { log: quiet, now })
    },

    async stop(): Promise<void> {
      await service.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Below the ports that systems give to outgoing connections, so that none of those takes it between two starts. */
async function freePort(): Promise<number> {
  const port = randomInt(10_000, 30_000)
  const probe = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
  return isFree ? port : freePort()
}
