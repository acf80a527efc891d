// The scale-out engine: a pool of connections, one round trip a call, rings between processes by NOTIFY.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { CarillonError } from '../../errors.ts'
import { iso } from '../../times.ts'
import {
  firstOf,
  type Row,
  toChange,
  toCredentials,
  toEndedSession,
  toInbox,
  toProducer,
  toReadAll,
  toSession,
  toSigningKey,
  toTokenRevocation,
  toUser,
} from '../rows.ts'
import {
  type ChangeSignal,
  type DeliveryOutcome,
  emptyInbox,
  type Page,
  type SessionKey,
  type Store,
} from '../store.ts'
import { ChangeSignals } from './change-signals.ts'
import {
  ask,
  askAtOneMoment,
  isServerAway,
  openingFailure,
  openPool,
  type StartTimeout,
} from './connection/connection.ts'
import { openFitPool } from './connection/opening.ts'
import { DeepUnread, type Read } from './deep-unread.ts'
import { fitting, isDeepUnread, nameOf, placeOf, toPage, withSession } from './pages.ts'
import { refuseHalfFilled } from './schema/half-filled.ts'
import { migrate } from './schema/migrate.ts'
import { statements } from './statements.ts'

const migrateWithinMs = 3_600_000
const removedAtOnce = 1_000
/** Between two attempts to open the database of a server that is away. */
const retryMs = 500

type Opened = { store: Store; migrations: string[] }

/**
 * Opens (and where need be migrates) the database that `url` names. Throws UNAVAILABLE with a sentence: at once, or after
 * `startTimeout` if the server is away.
 */
export async function openPostgresStore(
  url: string,
  { partitions, startTimeout }: { partitions: number; startTimeout?: StartTimeout },
): Promise<Opened> {
  const giveUpAt = performance.now() + (startTimeout?.timeoutMs ?? 0)
  for (let reason = ''; ; ) {
    try {
      return await openOnce(url, partitions)
    } catch (error) {
      if (!isServerAway(error) || performance.now() + retryMs > giveUpAt) throw error
      if (error.message !== reason) startTimeout?.onWait(error.message)
      reason = error.message
      await sleep(retryMs)
    }
  }
}

async function openOnce(url: string, partitions: number): Promise<Opened> {
  const migrations = await prepare(url, partitions)
  const pool = openPool(url)
  const rings = new ChangeSignals(pool, url)
  try {
    await rings.open()
    return { store: new PostgresStore(pool, rings), migrations }
  } catch (error) {
    await pool.end()
    throw openingFailure(error)
  }
}

async function prepare(url: string, partitions: number): Promise<string[]> {
  let pool: Pool | undefined
  try {
    pool = await openFitPool(url, { patientMs: migrateWithinMs })
    await refuseHalfFilled(pool)
    return await migrate(pool, { partitions })
  } catch (error) {
    throw openingFailure(error)
  } finally {
    await pool?.end()
  }
}

type Value = string | number | null | readonly (string | null)[] | readonly number[]

class PostgresStore implements Store {
  readonly #pool: Pool
  readonly #changeSignals: ChangeSignals
  readonly #deepUnread = new DeepUnread((work) => this.#atOneMoment(work))
  /** Nothing here fails for good: what goes away is waited for. */
  readonly failed = new Promise<Error>(() => {})
  #underWay = 0
  #closing: Promise<void> | undefined

  constructor(pool: Pool, rings: ChangeSignals) {
    this.#pool = pool
    this.#changeSignals = rings
    rings.on(({ about }) => about === 'anything' && this.#deepUnread.forget())
  }

  async #query(name: keyof typeof statements, values: Value[]): Promise<{ rows: Row[]; rowCount: number }> {
    if (this.#closing !== undefined) throw new CarillonError('UNAVAILABLE', 'The store is closed')
    this.#underWay++
    try {
      const { rows, rowCount } = await ask<Row & unknown[]>(this.#pool, queryOf(name, values))
      return { rows, rowCount: rowCount ?? 0 }
    } finally {
      this.#underWay--
    }
  }

  async #atOneMoment(work: (read: Read) => Promise<Page>): Promise<Page> {
    if (this.#closing !== undefined) throw new CarillonError('UNAVAILABLE', 'The store is closed')
    this.#underWay++
    try {
      return await askAtOneMoment(this.#pool, (run) =>
        work(async (name, ...values) => (await run(queryOf(name, values))).rows as unknown as Row[]),
      )
    } finally {
      this.#underWay--
    }
  }

  async #all(name: keyof typeof statements, ...values: Value[]): Promise<Row[]> {
    return (await this.#query(name, values)).rows
  }

  async #one(name: keyof typeof statements, ...values: Value[]): Promise<Row | undefined> {
    return (await this.#query(name, values)).rows[0]
  }

  async #change(name: keyof typeof statements, ...values: Value[]): Promise<number> {
    return (await this.#query(name, values)).rowCount
  }

  addUser: Store['addUser'] = async (user) => {
    const values = [user.id, user.username, user.displayName, user.passwordHash, user.createdAt]
    return (await this.#change('addUser', ...values)) === 1 ? 'added' : 'taken'
  }
  findUser: Store['findUser'] = async (userId) => {
    const row = await this.#one('user', userId)
    return row && toUser(row)
  }
  findCredentials: Store['findCredentials'] = async (username) => {
    const row = await this.#one('credentials', username)
    return row && toCredentials(row)
  }
  listUsers: Store['listUsers'] = async ({ after, limit }) => (await this.#all('users', after, limit)).map(toUser)
  disableUser: Store['disableUser'] = async ({ userId, at, revocationExpiresAt }) =>
    this.#endProofs(userId, await this.#one('disableUser', userId, at, revocationExpiresAt))
  setPassword: Store['setPassword'] = async ({ userId, passwordHash, at, revocationExpiresAt }) =>
    this.#endProofs(userId, await this.#one('setPassword', userId, passwordHash, at, revocationExpiresAt))

  #endProofs(userId: string, row: Row | undefined): 'done' | 'absent' {
    if (row?.[0] !== true) return 'absent'
    this.#changeSignals.ring({ about: 'session', userId })
    this.#changeSignals.ring({ about: 'token-revocation' })
    return 'done'
  }

  addSession: Store['addSession'] = async ({ userId, secretHash, checkedPasswordHash, at, replaces }) => {
    const row = await this.#one('addSession', userId, secretHash, checkedPasswordHash, at, ...columnsOf(replaces))
    const ended = row?.[0] as string[] | null
    if (ended === null) return 'refused'
    this.#signalSessions(ended)
    return 'added'
  }
  findSession: Store['findSession'] = async ({ userId, secretHash }, page) => {
    if (page === undefined) {
      const row = await this.#one('session', userId, secretHash)
      return row && toSession(row)
    }
    const row = await this.#one(withSession[nameOf(page)], userId, page.limit, placeOf(page), secretHash)
    if (row === undefined) return undefined
    const found = toPage(row, 4)
    return { ...toSession(row), ...(!isDeepUnread(page, found) && { page: found }) }
  }
  touchSession: Store['touchSession'] = async ({ userId, secretHash, at }) => {
    await this.#change('touchSession', userId, secretHash, at)
  }
  endSessions: Store['endSessions'] = async (keys) => {
    const ended = (await this.#all('endSessions', ...columnsOf(keys))).map(toEndedSession)
    this.#signalSessions(ended.map(({ userId }) => userId))
    return ended
  }
  #signalSessions(userIds: readonly string[]): void {
    for (const userId of new Set(userIds)) this.#changeSignals.ring({ about: 'session', userId })
  }
  removeStaleSessions: Store['removeStaleSessions'] = async ({ createdBefore, lastSeenBefore, lastSeenAfter }) => {
    await this.#removeAll('removeStaleSessions', createdBefore, lastSeenBefore, lastSeenAfter)
  }

  revokeTokens: Store['revokeTokens'] = async ({ userId, signInId, notBefore, expiresAt }) => {
    await this.#one('revokeTokens', userId, signInId ?? '', notBefore, expiresAt)
    this.#changeSignals.ring({ about: 'token-revocation' })
  }
  tokenRevocations: Store['tokenRevocations'] = async (now) =>
    (await this.#all('tokenRevocations', now)).map(toTokenRevocation)
  ensureSigningKey: Store['ensureSigningKey'] = async (key) => {
    await this.#one('ensureSigningKey', key.kid, key.publicJwk, key.sealedPrivateJwk, key.createdAt)
    return this.signingKeys()
  }
  signingKeys: Store['signingKeys'] = async () => (await this.#all('signingKeys')).map(toSigningKey)

  addProducer: Store['addProducer'] = async ({ id, name, secretHash, scopes, createdAt, expiresAt }) => {
    await this.#change('addProducer', id, name, secretHash, scopes.join(','), createdAt, expiresAt)
  }
  findProducer: Store['findProducer'] = async (producerId) => {
    const row = await this.#one('producer', producerId)
    return row && toProducer(row)
  }
  listProducers: Store['listProducers'] = async () => (await this.#all('producers')).map(toProducer)
  revokeProducer: Store['revokeProducer'] = async ({ producerId, at }) =>
    (await this.#change('revokeProducer', producerId, at)) === 1 ? 'done' : 'absent'
  touchProducer: Store['touchProducer'] = async ({ producerId, at }) => {
    await this.#change('touchProducer', producerId, at)
  }

  readInbox: Store['readInbox'] = async (userId) => {
    const row = await this.#one('inbox', userId)
    return row === undefined ? emptyInbox : toInbox(row)
  }
  readPage: Store['readPage'] = async (query) => {
    const { userId, limit, unlessVersion } = query
    // The inbox alone is read at half the cost of a page, and mostly nothing has changed.
    if (unlessVersion !== undefined && (await this.readInbox(userId)).version === unlessVersion) return 'unchanged'
    const page = toPage((await this.#one(nameOf(query), userId, limit, placeOf(query))) as Row)
    return isDeepUnread(query, page) ? this.#deepUnread.page(query, page.inbox) : page
  }
  readNotification: Store['readNotification'] = async ({ userId, id }) =>
    (await this.#one('notification', userId, id))?.[0] as string | undefined
  readCounts: Store['readCounts'] = async (userId) => {
    const row = (await this.#one('counts', userId)) as Row
    return { inbox: toInbox(row), categories: Object.assign(Object.create(null), JSON.parse(row[6] as string)) }
  }
  changesSince: Store['changesSince'] = async ({ userId, version, limit, maxBehind = Number.MAX_SAFE_INTEGER }) => {
    const row = (await this.#one('changes', userId, fitting(version), limit + 1, maxBehind)) as Row
    const inbox = toInbox(row)
    const behind = inbox.version - version
    if (behind < 0 || version < 0 || behind > maxBehind) return 'reset'
    const [arrived, later, readAlls] = (row.slice(6) as unknown as string[][]).map((texts) =>
      texts.map((text): Row => JSON.parse(text)),
    ) as [Row[], Row[], Row[]]
    return { inbox, ...firstOf([...arrived, ...later].map(toChange).concat(readAlls.map(toReadAll)), limit) }
  }

  markRead: Store['markRead'] = async ({ userId, id, at }) =>
    this.#changed(userId, await this.#one('markRead', userId, id, iso(at)))
  markAllRead: Store['markAllRead'] = async ({ userId, throughId, at }) =>
    this.#changed(userId, await this.#one('markAllRead', userId, throughId, iso(at)))

  #changed(userId: string, row: Row | undefined): 'done' | 'absent' {
    if (row?.[0] === 'done') this.#changeSignals.ring({ about: 'inbox', userId })
    return row?.[0] === 'absent' ? 'absent' : 'done'
  }

  deliver: Store['deliver'] = async (delivery) => {
    const { id, producerId, idempotency, recipients, content, category, key, at } = delivery
    const row = await this.#one(
      'deliver',
      id,
      producerId,
      idempotency?.key ?? null,
      idempotency?.bodyHash ?? null,
      recipients.map(({ to }) => ('username' in to ? to.username : null)),
      recipients.map(({ to }) => ('userId' in to ? to.userId : null)),
      recipients.map(({ notificationId }) => notificationId),
      content,
      category,
      key,
      at,
    )
    if (row?.[0] === 'mismatch') return 'mismatch'
    const outcome = JSON.parse(row?.[0] as string) as DeliveryOutcome
    const isNew = outcome.deliveryId === id
    if (isNew)
      for (const userId of new Set(outcome.results.map((result) => result.userId)))
        if (userId !== null) this.#changeSignals.ring({ about: 'inbox', userId })
    return outcome
  }
  removeOldDeliveries: Store['removeOldDeliveries'] = async (before) => {
    await this.#removeAll('removeOldDeliveries', before)
  }

  /** A few at a time: however many there are, no statement takes long. */
  async #removeAll(name: 'removeStaleSessions' | 'removeOldDeliveries', ...bounds: number[]): Promise<void> {
    while ((await this.#change(name, ...bounds, removedAtOnce)) === removedAtOnce);
  }

  clock = (): number => this.#changeSignals.storeTime()

  get history(): string {
    return this.#changeSignals.history
  }

  onChange(listener: (ring: ChangeSignal) => void): () => void {
    return this.#changeSignals.on(listener)
  }

  async check(): Promise<void> {
    const row = await this.#one('isReadOnly')
    if (row?.[0] === true) throw new CarillonError('UNAVAILABLE', 'The store is read only, a replica perhaps')
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    while (this.#underWay > 0) await sleep(5)
    await this.#changeSignals.close()
    await this.#pool.end()
  }
}

function queryOf(name: keyof typeof statements, values: Value[]) {
  return { name, text: statements[name], values, rowMode: 'array' as const }
}

/** Keys as two arrays, in the same order. */
function columnsOf(keys: readonly SessionKey[]): [string[], string[]] {
  return [keys.map(({ userId }) => userId), keys.map(({ secretHash }) => secretHash)]
}
