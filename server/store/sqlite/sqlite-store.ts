// The embedded engine: reads on the main thread, writes on one writer thread, both on one file in WAL mode.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ChangeSignal, Store } from '../store.ts'
import { connect, openDatabase, openingFailure, peek, refuseHalfFilled } from './database.ts'
import { hasForeignLog, historyGoingOn, setAsideSentence, setLogAside } from './file/identity.ts'
import { historyOf, migrate, refuseNewer } from './migrate.ts'
import { DeepUnread } from './reads/deep-unread.ts'
import { Reads } from './reads/reads.ts'
import { Writer, type WriterPlace } from './writer.ts'

/**
 * Opens (and where need be makes and migrates) the database in `file`. Throws UNAVAILABLE with a sentence. `notice` is one
 * for the operator: a write-ahead log of another file was there, and was moved aside.
 */
export async function openSqliteStore(file: string): Promise<{ store: Store; migrations: string[]; notice?: string }> {
  // Absolute, because SQLite takes ':memory:' and 'file:' for something else than a file's name.
  const path = resolve(file)
  const notice = hasForeignLog(path) ? setAsideSentence(path, setLogAside(path)) : undefined
  peek(path, (found) => refuseNewer(found))
  const database = openDatabase(path)
  try {
    refuseHalfFilled(database)
    const migrations = await migrate(database)
    const { dev, ino } = statSync(path, { bigint: true })
    const history = historyGoingOn(database, path)
    const store = new SqliteStore({ path, file: { dev, ino }, history }, `${historyOf(database)} ${history}`)
    return { store, migrations, ...(notice !== undefined && { notice }) }
  } catch (error) {
    throw openingFailure(error, path)
  } finally {
    database.close()
  }
}

class SqliteStore implements Store {
  readonly #reads: Reads
  readonly #deepUnread: DeepUnread
  readonly #writer: Writer
  readonly #listeners = new Set<(ring: ChangeSignal) => void>()
  readonly failed: Promise<Error>
  readonly history: string

  constructor(place: WriterPlace, history: string) {
    this.history = history
    const database = connect(place.path)
    // Pages of the file are read where the system keeps them, not copied; the writer, which must not, copies.
    database.exec('pragma query_only = on; pragma mmap_size = 268435456')
    this.#reads = new Reads(database)
    this.#deepUnread = new DeepUnread(this.#reads)
    this.#writer = new Writer(place, (rings) => this.#announce(rings))
    this.failed = this.#writer.failed
  }

  #announce(rings: readonly ChangeSignal[]): void {
    this.#reads.endSnapshot()
    if (rings.some(({ about }) => about === 'anything')) this.#deepUnread.forget()
    for (const ring of rings) for (const listener of this.#listeners) listener(ring)
  }

  addUser: Store['addUser'] = async (user) => this.#writer.write('addUser', user)
  findUser: Store['findUser'] = async (userId) => this.#reads.user(userId)
  findCredentials: Store['findCredentials'] = async (username) => this.#reads.credentials(username)
  listUsers: Store['listUsers'] = async (query) => this.#reads.users(query)
  disableUser: Store['disableUser'] = async (change) => this.#writer.write('disableUser', change)
  setPassword: Store['setPassword'] = async (change) => this.#writer.write('setPassword', change)

  addSession: Store['addSession'] = async (session) => this.#writer.write('addSession', session)
  findSession: Store['findSession'] = async (key, page) => this.#reads.session(key, page)
  touchSession: Store['touchSession'] = async (session) => this.#writer.write('touchSession', session)
  endSessions: Store['endSessions'] = async (keys) => this.#writer.write('endSessions', keys)
  removeStaleSessions: Store['removeStaleSessions'] = async (bounds) =>
    this.#writer.write('removeStaleSessions', bounds)

  revokeTokens: Store['revokeTokens'] = async (revocation) => this.#writer.write('revokeTokens', revocation)
  tokenRevocations: Store['tokenRevocations'] = async (now) => this.#reads.tokenRevocations(now)
  ensureSigningKey: Store['ensureSigningKey'] = async (key) => {
    await this.#writer.write('ensureSigningKey', key)
    return this.#reads.signingKeys()
  }
  signingKeys: Store['signingKeys'] = async () => this.#reads.signingKeys()

  addProducer: Store['addProducer'] = async (producer) => this.#writer.write('addProducer', producer)
  findProducer: Store['findProducer'] = async (producerId) => this.#reads.producer(producerId)
  listProducers: Store['listProducers'] = async () => this.#reads.producers()
  revokeProducer: Store['revokeProducer'] = async (change) => this.#writer.write('revokeProducer', change)
  touchProducer: Store['touchProducer'] = async (change) => this.#writer.write('touchProducer', change)

  readInbox: Store['readInbox'] = async (userId) => this.#reads.inbox(userId)
  readPage: Store['readPage'] = async (query) => {
    const page = this.#reads.page(query)
    return page === 'uncounted' ? this.#deepUnread.page(query) : page
  }
  readNotification: Store['readNotification'] = async (owned) => this.#reads.notification(owned)
  readCounts: Store['readCounts'] = async (userId) => this.#reads.counts(userId)
  changesSince: Store['changesSince'] = async (query) => this.#reads.changesSince(query)
  markRead: Store['markRead'] = async (change) => this.#writer.write('markRead', change)
  markAllRead: Store['markAllRead'] = async (change) => this.#writer.write('markAllRead', change)

  deliver: Store['deliver'] = async (delivery) => this.#writer.write('deliver', delivery, delivery.recipients.length)
  removeOldDeliveries: Store['removeOldDeliveries'] = async (before) =>
    this.#writer.write('removeOldDeliveries', before)

  onChange(listener: (ring: ChangeSignal) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async check(): Promise<void> {
    await this.#writer.probe()
    this.#reads.inbox('')
  }

  async close(): Promise<void> {
    await this.#writer.close()
    if (this.#writer.isFileLost) this.#reads.abandon()
    else this.#reads.close()
  }
}
