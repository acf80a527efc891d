// Writes a file whole or not at all: under another name in the same folder, to the disk, and only then under its own. A
// file that is there is never replaced.
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { CarillonError } from '../../errors.ts'

/** `write` gets an empty file (mode 0600) to write to; what it leaves there becomes the file at `path`. */
export async function writeNewFile<Result>(path: string, write: (draft: string) => Promise<Result>): Promise<Result> {
  if (existsSync(path)) throw isThere(path)
  const draft = `${path}.${process.pid}.part`
  make(draft, path)
  try {
    const result = await write(draft)
    sync(draft, 'r+')
    publish(draft, path)
    if (process.platform !== 'win32') sync(dirname(path), 'r')
    return result
  } finally {
    // SQLite's files beside it, where it was ended in the middle.
    for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(draft + ending, { force: true })
  }
}

function make(draft: string, path: string): void {
  try {
    closeSync(openSync(draft, 'wx', 0o600))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CarillonError('UNAVAILABLE', `${path} cannot be written: ${reason}.`, { cause: error })
  }
}

/** A link never replaces a file that came meanwhile. Where there are no links, on some network disks, a look must do. */
function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (existsSync(path)) throw isThere(path)
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    renameSync(draft, path)
  }
}

function sync(path: string, flags: string): void {
  const file = openSync(path, flags)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function isThere(path: string): CarillonError {
  return new CarillonError('CONFLICT', `${path} is there already and was left as it is. Name a new file.`)
}
