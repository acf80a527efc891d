// A complete service as `serve` composes it, on a real database and a real port, with a clock that
// the test sets. TEST_ENGINE chooses the engine (database-behind.ts). service-requests.ts sends.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog, type Log } from '../../server/basics/log.ts'
import { readConfig } from '../../server/config/read.ts'
import type { Environment } from '../../server/config/values.ts'
import type { DeliveryRequest } from '../../server/delivery/deliver.ts'
import { type HashCost, Passwords } from '../../server/passwords/passwords.ts'
import { ProducerKeys, type Scope } from '../../server/producers/producer-key.ts'
import { touchProducer } from '../../server/producers/producers.store.ts'
import { type Service, startService } from '../../server/serve.ts'
import { touchSession } from '../../server/sessions/sessions.store.ts'
import type { Store } from '../../server/store/store.ts'
import { replaceOperation } from '../../server/store/testing/operations.ts'
import { addUser } from '../../server/users/users.ts'
import { requestsTo } from './http/service-requests.ts'
import { engine, PostgresBehind, SqliteBehind } from './network/database-behind.ts'
import { freePort } from './network/free-port.ts'
import { newDatabase } from './postgres.ts'

export type Variant = 'stateful' | 'stateless'
export const variants: readonly Variant[] = ['stateful', 'stateless']

export type TestUser = { id: string; username: string; password: string }
export type Proof = Readonly<Record<string, string>>
export type Notification = {
  id: string
  seq: number
  title: string
  category: string | null
  key: string | null
  read: boolean
  readAt: string | null
  createdAt: string
}
export type Listed = {
  items: Notification[]
  total: number
  hasMore: boolean
  unread: number
  version: number
  next: string | null
}

export type { HttpResponse } from './http/service-requests.ts'

export type TestService = Awaited<ReturnType<typeof startTestService>>

const startOfTime = Date.UTC(2026, 0, 1)
/**
 * A hash takes less than a millisecond, and not 30: few tests are about the cost. Those set
 * `usualCost`.
 */
const lowCost: HashCost = { memoryCost: 8, timeCost: 1 }
/** PostgreSQL has no database folder, so the secret has to be a setting. */
const secretOfPostgres = 'twelve grey herons in the reeds, only for tests'

export async function startTestService({
  env = {},
  dir = mkdtempSync(join(tmpdir(), 'carillon-')),
  log,
  hashCost = lowCost,
}: {
  env?: Environment
  dir?: string
  log?: Log
  hashCost?: HashCost
} = {}) {
  let time = startOfTime
  let sinceStart = 0
  let wallOffset = 0
  const now = () => time
  const clock = { wall: () => time + wallOffset, monotonic: () => sinceStart }
  // The address is the issuer of its tokens, which must stay valid after a restart.
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const requests = requestsTo(address)
  const place = await placeIn(dir)
  const config = readConfig({
    CARILLON_PORT: String(port),
    ...place.env,
    CARILLON_FIRST_START: 'off',
    CARILLON_LOG: 'silent',
    // A user who signs in from a test and from a browser would have a notification more.
    CARILLON_NEW_DEVICE_NOTICES: 'off',
    ...env,
  })
  const quiet = log ?? (await createLog({ level: config.logLevel, isTerminal: false }))
  const start = () => startService(config, { log: quiet, clock, hashCost })
  let service: Service = await start()
  let notes = notesOf(service.store)
  const passwords = new Passwords({ threads: 4, cost: hashCost })
  let names = 0
  let keyOfDeliveries: ReturnType<ProducerKeys['issue']> | undefined

  const controls = {
    dir,
    database: place.database,
    databaseSetting: config.database,
    get sealingSecret(): string {
      return config.secret ?? readFileSync(join(dir, 'carillon.secret'), 'utf8').trim()
    },
    /** The public URL may be another one. */
    url: address,
    get store() {
      return service.store
    },
    now,
    /** Waits for the pending writes of `lastSeenAt` and `lastUsedAt`. */
    async noted(): Promise<void> {
      await Promise.all(notes)
    },
    /** A revocation by another process takes effect after a change signal or the next check. */
    async refused(token: Proof): Promise<void> {
      const from = performance.now()
      while ((await requests.get('/routeRestreinte', token)).status !== 401) {
        if (performance.now() > from + 60_000) throw new Error('the token is still accepted')
        await sleep(5)
      }
    },
    /**
     * A negative value takes effect after a restart, since a running process ignores a clock that
     * goes back.
     */
    pass(ms: number) {
      time += ms
      sinceStart += Math.max(0, ms)
    },
    setWallClock(offsetMs: number) {
      wallOffset = offsetMs
    },

    async user(name = `user${++names}`, password = 'plum orchard gate 41'): Promise<TestUser> {
      const { id, username } = await addUser(
        {
          store: service.store,
          passwords,
          erased: async () => undefined,
          passwordMinLength: config.passwordMin,
          now,
        },
        { username: name, password },
      )
      return { id, username: username ?? name, password }
    },

    async signIn({ username, password }: Omit<TestUser, 'id'>, variant: Variant): Promise<Proof> {
      const response = await requests.post('/login', { username, password, variant })
      if (response.status !== 200)
        throw new Error(`the sign-in got ${response.status}: ${response.text}`)
      if (variant === 'stateless') return { authorization: `Bearer ${response.json().token}` }
      return { cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
    },

    async producerKey(
      scopes: readonly Scope[] = ['send'],
      expiresAt: number | null = null,
      application?: string,
    ) {
      return new ProducerKeys({ store: service.store, now }).issue({
        name: 'test',
        application,
        scopes,
        expiresAt,
      })
    },

    /** An application issues such a token of scope `inbox` for its user. */
    async issueToken(
      { id }: Pick<TestUser, 'id'>,
      body: { lifetime?: number } = {},
    ): Promise<Proof> {
      const { key } = await this.producerKey(['users'])
      const headers = { authorization: `Bearer ${key}` }
      const response = await requests.post(
        `/api/users/${id}/tokens`,
        { scope: 'inbox', ...body },
        headers,
      )
      if (response.status !== 201)
        throw new Error(`the token got ${response.status}: ${response.text}`)
      return { authorization: `Bearer ${response.json().data.token}` }
    },

    /** Returns the ids of the notifications, in the order of the recipients. */
    async deliver({
      to,
      ...content
    }: { to: TestUser | TestUser[] } & Omit<DeliveryRequest, 'recipients'>): Promise<string[]> {
      keyOfDeliveries ??= this.producerKey()
      const { key } = await keyOfDeliveries
      const recipients = [to].flat().map(({ username }) => ({ username }))
      const response = await requests.post(
        '/api/notifications',
        { recipients, ...content },
        { authorization: `Bearer ${key}` },
      )
      if (response.status !== 201)
        throw new Error(`the delivery got ${response.status}: ${response.text}`)
      return response.json().data.results.map(({ id }: { id: string }) => id)
    },

    async list(proof: Proof, query = ''): Promise<Listed> {
      const response = await requests.get(`/api/notifications${query}`, proof)
      if (response.status !== 200)
        throw new Error(`the list got ${response.status}: ${response.text}`)
      return response.json().data
    },

    /** Joins all pages of the list. */
    async everything(proof: Proof, query = ''): Promise<Listed> {
      const items: Notification[] = []
      for (let page = 1; ; page++) {
        const found = await this.list(proof, `?limit=100&page=${page}${query}`)
        items.push(...found.items)
        if (!found.hasMore) return { ...found, items }
      }
    },

    /** Keeps the database and the clock. `change` runs while the service is stopped. */
    async restart(change: () => Promise<unknown> = async () => {}): Promise<void> {
      await service.stop()
      await change()
      service = await start()
      notes = notesOf(service.store)
    },

    async stop(): Promise<void> {
      await place.database.close()
      await service.stop()
      await place.drop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  return Object.assign(controls, requests)
}

function notesOf(store: Store): Set<Promise<unknown>> {
  const notes = new Set<Promise<unknown>>()
  const watched = (note: Promise<void>) => {
    const done = note.catch(() => {}).finally(() => notes.delete(done))
    notes.add(done)
    return note
  }
  for (const touch of [touchSession, touchProducer])
    replaceOperation<never, void>(store, touch, (_, run) => watched(run()))
  return notes
}

/** Services with the same folder share a database, which the last one drops. */
const databases = new Map<string, { made: ReturnType<typeof newDatabase>; users: number }>()

async function placeIn(dir: string) {
  if (engine === 'sqlite') {
    const env = { CARILLON_DATABASE_URL: `sqlite:${join(dir, 'carillon.db')}` }
    return { env, database: new SqliteBehind(dir), drop: async () => {} }
  }
  const shared = databases.get(dir) ?? { made: newDatabase(), users: 0 }
  databases.set(dir, shared)
  shared.users++
  const { url, drop } = await shared.made
  return {
    env: { CARILLON_DATABASE_URL: url, CARILLON_SECRET: secretOfPostgres },
    database: new PostgresBehind(url, dir),
    async drop() {
      if (--shared.users > 0) return
      databases.delete(dir)
      await drop()
    },
  }
}
