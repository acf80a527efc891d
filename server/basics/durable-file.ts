// Writes a small file so that a power failure leaves the old content, the new content or no file, never an empty or partial
// file: write, fsync the file, give it its name, fsync the folder. Without the second fsync the name can be lost.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { dirname, resolve } from 'node:path'

type Text = string | ((file: fs.BigIntStats) => string)

/** Creates the file (mode 0600) with `text`. Returns false, and changes nothing, if a file with that name exists. */
export function createDurably(path: string, text: string): boolean {
  return withDraft(path, text, (draft) => {
    try {
      fs.linkSync(draft, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    } finally {
      fs.rmSync(draft)
    }
    return true
  })
}

/** Does what `createDurably` does, but replaces a file or link of that name. A function gets the new file's status for its text. */
export function replaceDurably(path: string, text: Text): void {
  withDraft(path, text, (draft) => fs.renameSync(draft, path))
}

export function syncToDisk(path: string): void {
  const isReadOnly = process.platform !== 'win32'
  const file = fs.openSync(path, isReadOnly ? 'r' : 'r+')
  try {
    fs.fsyncSync(file)
  } finally {
    fs.closeSync(file)
  }
}

/** Windows cannot open a folder to sync it; NTFS keeps names in its journal. */
export function syncFolder(path: string): void {
  if (process.platform !== 'win32') syncToDisk(path)
}

function withDraft<Result>(path: string, text: Text, publish: (draft: string) => Result): Result {
  // Random: in containers all processes can have the same id, and a draft may be left from before a power failure.
  const draft = `${path}.${randomBytes(6).toString('hex')}.part`
  try {
    createEmpty(draft)
    const content = typeof text === 'string' ? text : text(fs.statSync(draft, { bigint: true }))
    fs.writeFileSync(draft, content, { flush: true })
    const result = publish(draft)
    syncFolder(dirname(path))
    return result
  } catch (error) {
    fs.rmSync(draft, { force: true })
    throw error
  }
}

/** Creates the folder (mode 0700), and those around it that are missing. Each is an entry in its parent, which is synced too. */
export function makeFolder(folder: string): void {
  // Not `recursive`, with which Node tries for ever where no folder can be made, such as in /proc.
  const missing: string[] = []
  for (let at = resolve(folder); !fs.existsSync(at); at = dirname(at)) missing.unshift(at)
  for (const made of missing) {
    try {
      fs.mkdirSync(made, { mode: 0o700 })
      const service = serviceAround(made)
      // The link itself, if the service has replaced the folder by one.
      if (service !== undefined) fs.lchownSync(made, service.uid, service.gid)
    } catch (error) {
      // Another process that starts at the same time has made it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    syncFolder(dirname(made))
  }
}

export function createEmpty(path: string, flag: 'a' | 'wx' = 'wx'): void {
  const file = fs.openSync(path, flag, 0o600)
  try {
    const service = serviceAround(path)
    if (service !== undefined) fs.fchownSync(file, service.uid, service.gid)
  } finally {
    fs.closeSync(file)
  }
}

/** What a command of root makes belongs to the owner of the folder around it: the service, which has to use it, runs as that user. */
function serviceAround(path: string): fs.Stats | undefined {
  const around = fs.statSync(dirname(path))
  return process.geteuid?.() === 0 && around.uid !== 0 ? around : undefined
}
