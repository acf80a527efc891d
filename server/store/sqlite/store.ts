// The store on SQLite, for one process: the main thread reads, a writer thread writes.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ChangeListener, ChangeSignal, RecordListener } from '../events.ts'
import { knownMigrations, type Noticed, refuseNewer } from '../migrations.ts'
import { nameOf, type Store, type Writes } from '../store.ts'
import { connect, type Database, openDatabase, openingFailure, peek } from './database.ts'
import {
  continuedHistory,
  hasForeignLog,
  lostLogSince,
  recordClose,
  setLogAside,
} from './file/identity.ts'
import { appliedMigrations, migrate } from './migrate.ts'
import { Reader } from './reader.ts'
import { Writer, type WriterPlace } from './writer.ts'

type Code = { writes: Writes; writerEntry: URL } & Noticed

type LogNotice = {
  event: 'log-missing' | 'log-set-aside'
  sentence: string
  lastCheckpoint?: string
}

export async function openSqliteStore(
  file: string,
  code: Code,
): Promise<{ store: Store; migrations: string[] }> {
  // In an absolute path ':memory:' and 'file:' are names of files.
  const path = resolve(file)
  const notice = foreignLog(path) ?? lostLog(path)
  if (notice !== undefined) code.onNotice?.(notice)
  peek(path, (found) => refuseNewer(appliedMigrations(found), knownMigrations()))
  using database = openDatabase(path)
  try {
    const migrations = await migrate(database, code)
    const { dev, ino } = statSync(path, { bigint: true })
    const history = continuedHistory(database, path)
    const store = storeAt(
      { path, file: { dev, ino }, history, lostLog: notice?.lastCheckpoint },
      code,
    )
    return { store, migrations }
  } catch (error) {
    recordClose(database, path)
    throw openingFailure(error, path)
  }
}

function fileSizes(path: string) {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return { database: sizeOf(path), log: sizeOf(`${path}-wal`) }
}

function foreignLog(path: string): LogNotice | undefined {
  return hasForeignLog(path) ? { event: 'log-set-aside', sentence: setLogAside(path) } : undefined
}

function lostLog(path: string): LogNotice | undefined {
  const lastCheckpoint = lostLogSince(path)
  if (lastCheckpoint === undefined) return undefined
  const sentence =
    `The write-ahead log of ${path} is gone, and no process closed the database before that: what was written after the last ` +
    `checkpoint, at ${lastCheckpoint}, is lost. Restore a backup if it has more.`
  return { event: 'log-missing', sentence, lastCheckpoint }
}

function connectForReads(path: string): Database {
  const database = connect(path)
  // Reads map 64 MiB and copy no pages. The writer must not map.
  database.exec('pragma query_only = on; pragma mmap_size = 67108864')
  return database
}

function storeAt(place: WriterPlace, { writes, writerEntry: entry }: Code): Store {
  const reader = new Reader(connectForReads(place.path), connectForReads(place.path))
  const listeners = new Map<ChangeListener, readonly ChangeSignal['about'][] | undefined>()
  const recordListeners = new Set<RecordListener>()
  const onCommit = (signals: readonly ChangeSignal[]) => {
    reader.endSnapshot()
    for (const signal of signals)
      for (const [listener, about] of listeners)
        if (about === undefined || signal.about === 'anything' || about.includes(signal.about))
          listener(signal)
  }
  const onRecorded: RecordListener = async (entries) => {
    await Promise.all([...recordListeners].map((listener) => listener(entries)))
  }
  const writer = new Writer({ entry, place, onCommit, onRecorded })
  const names = new Map<unknown, string>(
    Object.entries(writes).map(([name, write]) => [write, name]),
  )
  return {
    read(operation, ...input) {
      return typeof operation === 'function'
        ? reader.run(operation(...input))
        : operation.sqlite(reader, ...input)
    },
    async write(operation, input) {
      const weight = typeof operation === 'function' ? undefined : operation.weightOf?.(input)
      const name = names.get(operation)
      if (name === undefined)
        throw new Error(`${nameOf(operation)} is in no file that server/writes.ts lists`)
      return writer.write([name, input], weight)
    },
    history: place.history,
    holder: () => 1,
    failed: writer.failed,
    onChange(listener, about) {
      listeners.set(listener, about)
      return () => listeners.delete(listener)
    },
    onRecorded: (listener) => void recordListeners.add(listener),
    async check() {
      await writer.probe()
      reader.one('select 1 from inbox limit 1')
    },
    numbers: () => ({ ...writer.numbers(), files: fileSizes(place.path) }),
    async close() {
      await writer.close()
      reader.close(writer)
    },
  }
}
