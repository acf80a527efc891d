// What is kept of one server in this browser: one record in IndexedDB, read and replaced in one transaction, so that no tab
// undoes the write of another. It contains no token and no cookie.
import type { NotificationPage } from '../../transport/types.ts'

export type Act =
  | { type: 'read' | 'unread'; id: string }
  | { type: 'read-all'; throughSeq: number; isExact?: boolean }
  | { type: 'undo'; ids: readonly string[]; made: number }

/** An act of the user that the server has not accepted yet. `key` is unique. */
export type WaitingAct = Act & { key: string }

export type KeptRecord = {
  /** The `offline` of the client that wrote it. */
  name: string
  /** The id of the user. */
  user: string
  /** The last page of each list, by the name of the list; the one that was saved last is the last one. */
  lists: Record<string, NotificationPage>
  /** Oldest first. */
  acts: WaitingAct[]
}

/** Returns what replaces the record; undefined deletes it. */
export type Change = (kept: KeptRecord | undefined) => KeptRecord | undefined

/** Some browsers never respond if their storage is damaged. */
const timeoutMs = 3_000
/** The last response of the storage took longer: no call waits for the next one. */
let isSilent = false

/**
 * Resolves to the record after the change. Rejects if the browser has no storage, forbids it or has no space, or if a newer version
 * of the client has written it. Changes take place in the order of their calls. Each has a connection of its own, so that this
 * tab never keeps a newer version in another tab from changing the database.
 */
export function changeRecord(server: string, change: Change): Promise<KeptRecord | undefined> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('carillon-inbox', 1)
    const giveUp = () => {
      isSilent = true
      reject()
    }
    const timer = setTimeout(giveUp, isSilent ? 0 : timeoutMs)
    opening.onupgradeneeded = () => opening.result.createObjectStore('servers')
    opening.onerror = opening.onblocked = reject
    opening.onsuccess = async () => {
      try {
        resolve(await inTransaction(opening.result, server, change))
      } catch (error) {
        reject(error)
      }
      clearTimeout(timer)
      isSilent = false
      opening.result.close()
    }
  })
}

function inTransaction(database: IDBDatabase, server: string, change: Change): Promise<KeptRecord | undefined> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction('servers', 'readwrite')
    const records = transaction.objectStore('servers')
    const reading: IDBRequest<KeptRecord | undefined> = records.get(server)
    let changed: KeptRecord | undefined
    reading.onsuccess = () => {
      changed = change(reading.result)
      // Full storage refuses every write, even of the same record.
      if (changed === reading.result) return
      try {
        if (changed) records.put(changed, server)
        else records.delete(server)
      } catch (error) {
        reject(error)
      }
    }
    transaction.oncomplete = () => resolve(changed)
    transaction.onabort = reject
  })
}
