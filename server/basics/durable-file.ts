// Writes a small file so that a power failure leaves no partial one.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { dirname, resolve } from 'node:path'

type Text = string | ((file: fs.BigIntStats) => string)

/** The mode is 0600. Returns false if the name exists. */
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

/** NTFS keeps names in its journal. */
export function syncFolder(path: string): void {
  if (process.platform !== 'win32') syncToDisk(path)
}

function withDraft<Result>(path: string, text: Text, publish: (draft: string) => Result): Result {
  // In containers all processes can have the same id.
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

/** The mode is 0700. Syncs each parent, too. */
export function makeFolder(folder: string): void {
  // With `recursive`, Node would try for ever in /proc.
  const missing: string[] = []
  for (let at = resolve(folder); !fs.existsSync(at); at = dirname(at)) missing.unshift(at)
  for (const made of missing) {
    try {
      fs.mkdirSync(made, { mode: 0o700 })
      const service = serviceAround(made)
      if (service !== undefined) fs.lchownSync(made, service.uid, service.gid)
    } catch (error) {
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

/** The service runs as the folder's owner, not as root. */
function serviceAround(path: string): fs.Stats | undefined {
  const around = fs.statSync(dirname(path))
  return process.geteuid?.() === 0 && around.uid !== 0 ? around : undefined
}
