// Writes a file whole or not at all: under another name in the same folder, to the disk, and only then under its own. A
// file that is there is never replaced.
import { randomBytes } from 'node:crypto'
import { closeSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { CarillonError } from '../../errors.ts'
import { syncFolder, syncToDisk } from '../../files/durable-file.ts'

/**
 * `write` gets an empty file (mode 0600) to write to; what it leaves there becomes the file at `path`. Throws CarillonError
 * with a sentence where the system refuses. Nothing is left behind, also where the process exits meanwhile.
 */
export async function writeNewFile<Result>(path: string, write: (draft: string) => Promise<Result>): Promise<Result> {
  if (path === '') throw new CarillonError('INVALID_REQUEST', 'The new file has no name')
  if (isAnythingAt(path)) throw isThere(path)
  // Not the process's number, which in every container is the same.
  const draft = `${path}.${randomBytes(6).toString('hex')}.part`
  const remove = () => {
    // SQLite's files beside it, where it was ended in the middle.
    for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(draft + ending, { force: true })
  }
  process.on('exit', remove)
  try {
    closeSync(openSync(draft, 'wx', 0o600))
    const result = await write(draft)
    syncToDisk(draft)
    publish(draft, path)
    syncFolder(dirname(path))
    return result
  } catch (error) {
    throw isOfTheSystem(error) ? notWritten(path, error) : error
  } finally {
    remove()
    process.off('exit', remove)
  }
}

/** Also a link that leads nowhere, which a look through it would not find. */
function isAnythingAt(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Of the operating system, or of SQLite, which has it from there. */
function isOfTheSystem(error: unknown): error is Error {
  return error instanceof Error && ('syscall' in error || 'errcode' in error)
}

function notWritten(path: string, error: Error): CarillonError {
  return new CarillonError('UNAVAILABLE', `${path} cannot be written: ${error.message}`, {
    remedy: 'Nothing is left of it.',
    cause: error,
  })
}

/** A link never replaces a file that came meanwhile. Where there are no links, on some network disks, a look must do. */
function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (isAnythingAt(path)) throw isThere(path)
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    renameSync(draft, path)
  }
}

function isThere(path: string): CarillonError {
  return new CarillonError('CONFLICT', `${path} already exists and was left as it is`, { remedy: 'Name a new file.' })
}
