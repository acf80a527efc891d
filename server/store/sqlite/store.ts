// The store on SQLite, for one process: reads on the main thread, writes on one writer thread, both on one file in WAL mode.
// This file opens it and says which operation is a read and which a write.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ChangeSignal, Lifecycle, Store } from '../store.ts'
import { UnreadBlocksCache } from '../unread-blocks.ts'
import { Reader, Writer, type WriterPlace } from './connection.ts'
import { connect, openDatabase, openingFailure, peek, refuseHalfFilled } from './database.ts'
import { continuedHistory, hasForeignLog, setAsideSentence, setLogAside } from './file/identity.ts'
import { historyOf, migrate, refuseNewer } from './migrate.ts'
import { changesSince } from './reads/changes.ts'
import { readCounts, readInbox, readNotification } from './reads/inbox.ts'
import { readPage } from './reads/pages.ts'
import { findProducer, listProducers } from './reads/producers.ts'
import { findSession } from './reads/sessions.ts'
import { signingKeys, tokenRevocations } from './reads/tokens.ts'
import { findCredentials, findUser, listUsers } from './reads/users.ts'

/**
 * Opens the database in `file`; creates and migrates it if needed. Throws UNAVAILABLE with a sentence. `notice` is a sentence
 * for the operator: the write-ahead log of another file was found and moved aside.
 */
export async function openSqliteStore(file: string): Promise<{ store: Store; migrations: string[]; notice?: string }> {
  // An absolute path, because SQLite does not take ':memory:' and 'file:' as file names.
  const path = resolve(file)
  const notice = hasForeignLog(path) ? setAsideSentence(path, setLogAside(path)) : undefined
  peek(path, (found) => refuseNewer(found))
  const database = openDatabase(path)
  try {
    refuseHalfFilled(database)
    const migrations = await migrate(database)
    const { dev, ino } = statSync(path, { bigint: true })
    const history = continuedHistory(database, path)
    const place = { path, file: { dev, ino }, history }
    const store = storeAt(place, `${historyOf(database)} ${history}`)
    return { store, migrations, ...(notice !== undefined && { notice }) }
  } catch (error) {
    throw openingFailure(error, path)
  } finally {
    database.close()
  }
}

function storeAt(place: WriterPlace, history: string): Store {
  const database = connect(place.path)
  // The reads map the file into memory instead of copying its pages. The writer must not map it, and copies.
  database.exec('pragma query_only = on; pragma mmap_size = 268435456')
  const reader = new Reader(database)
  const listeners = new Set<(signal: ChangeSignal) => void>()
  const writer = new Writer(place, (signals) => {
    reader.endSnapshot()
    if (signals.some(({ about }) => about === 'anything')) reader.unreadBlocks = new UnreadBlocksCache()
    for (const signal of signals) for (const listener of listeners) listener(signal)
  })
  return { history, ...lifecycle({ reader, writer, listeners }), ...readsOn(reader), ...writesOn(writer) }
}

/** Every read is a function of reads/ that gets the reader. */
function readsOn(reader: Reader) {
  return {
    findUser: findUser.bind(undefined, reader),
    findCredentials: findCredentials.bind(undefined, reader),
    listUsers: listUsers.bind(undefined, reader),
    findSession: findSession.bind(undefined, reader),
    tokenRevocations: tokenRevocations.bind(undefined, reader),
    signingKeys: signingKeys.bind(undefined, reader),
    findProducer: findProducer.bind(undefined, reader),
    listProducers: listProducers.bind(undefined, reader),
    readInbox: readInbox.bind(undefined, reader),
    readPage: readPage.bind(undefined, reader),
    readNotification: readNotification.bind(undefined, reader),
    readCounts: readCounts.bind(undefined, reader),
    changesSince: changesSince.bind(undefined, reader),
  }
}

/** Every write is a function of writes/ that the writer thread runs. */
function writesOn(writer: Writer) {
  return {
    addUser: writer.operation('addUser'),
    disableUser: writer.operation('disableUser'),
    setPassword: writer.operation('setPassword'),
    addSession: writer.operation('addSession'),
    touchSession: writer.operation('touchSession'),
    endSessions: writer.operation('endSessions'),
    removeStaleSessions: writer.operation('removeStaleSessions'),
    revokeTokens: writer.operation('revokeTokens'),
    ensureSigningKey: writer.operation('ensureSigningKey'),
    addProducer: writer.operation('addProducer'),
    revokeProducer: writer.operation('revokeProducer'),
    touchProducer: writer.operation('touchProducer'),
    markRead: writer.operation('markRead'),
    markAllRead: writer.operation('markAllRead'),
    deliver: writer.operation('deliver'),
    removeOldDeliveries: writer.operation('removeOldDeliveries'),
  }
}

type Open = { reader: Reader; writer: Writer; listeners: Set<(signal: ChangeSignal) => void> }

function lifecycle({ reader, writer, listeners }: Open): Omit<Lifecycle, 'history'> {
  return {
    failed: writer.failed,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async check() {
      await writer.probe()
      await readInbox(reader, '')
    },
    async close() {
      await writer.close()
      if (writer.isFileLost) reader.abandon()
      else reader.close()
    },
  }
}
