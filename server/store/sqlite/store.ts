// The store on SQLite, for one process: reads on the main thread, writes on one writer thread, one file in WAL mode.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import * as changes from '../../inbox/sqlite/changes.ts'
import * as inbox from '../../inbox/sqlite/inbox.ts'
import * as sessions from '../../sessions/sessions.sqlite.ts'
import { reads as storedReads } from '../../stored.ts'
import { bindOperations } from '../operations.ts'
import { methodsOf } from '../statements/statements.ts'
import type { ChangeSignal, Store } from '../store.ts'
import { Reader, Writer, type WriterPlace } from './connection.ts'
import { connect, type Database, openDatabase, openingFailure, peek, refuseHalfFilled } from './database.ts'
import { continuedHistory, hasForeignLog, removeDrafts, setLogAside } from './file/identity.ts'
import { historyOf, migrate, refuseNewer } from './migrate.ts'
import { runRead } from './run-read.ts'

/** Every exported function of these files is the store's read of that name. */
const reads = {
  ...sessions,
  ...inbox,
  ...changes,
}

/** Eight times as much is not faster: the system keeps the pages, too, and some commits walk through the whole cache (decision 0054). */
const usualCacheMib = 8

/** Creates and migrates it if needed. Throws UNAVAILABLE with a sentence. `notice`: a foreign log was moved aside. */
export async function openSqliteStore(
  file: string,
  { cacheMib = usualCacheMib }: { cacheMib?: number | undefined } = {},
): Promise<{ store: Store; migrations: string[]; notice?: string }> {
  // An absolute path, because SQLite does not take ':memory:' and 'file:' as file names.
  const path = resolve(file)
  const notice = hasForeignLog(path) ? setLogAside(path) : undefined
  peek(path, (found) => refuseNewer(found))
  const database = openDatabase(path)
  try {
    refuseHalfFilled(database)
    const migrations = await migrate(database)
    const { dev, ino } = statSync(path, { bigint: true })
    removeDrafts(database, path)
    const history = continuedHistory(database, path)
    const place = { path, file: { dev, ino }, history, cacheKib: cacheMib * 1_024 }
    const store = storeAt(place, `${historyOf(database)} ${history}`)
    return { store, migrations, ...(notice !== undefined && { notice }) }
  } catch (error) {
    throw openingFailure(error, path)
  } finally {
    database.close()
  }
}

function connectForReads(path: string): Database {
  const database = connect(path)
  // The reads map the first 64 MiB of the file into memory instead of copying its pages. The writer must not map it, and copies.
  database.exec('pragma query_only = on; pragma mmap_size = 67108864')
  return database
}

function storeAt(place: WriterPlace, history: string): Store {
  const reader = new Reader(connectForReads(place.path), connectForReads(place.path))
  const listeners = new Set<(signal: ChangeSignal) => void>()
  const writer = new Writer(place, (signals) => {
    reader.endSnapshot()
    for (const signal of signals) for (const listener of listeners) listener(signal)
  })
  return {
    ...bindOperations(reads, reader),
    ...methodsOf(storedReads, async (start) => runRead(start(), reader)),
    ...writer.operations(),
    history,
    failed: writer.failed,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async check() {
      await writer.probe()
      reader.one('select 1 from inbox limit 1')
    },
    async close() {
      await writer.close()
      if (writer.isFileLost) reader.abandon()
      else reader.close()
    },
  }
}
