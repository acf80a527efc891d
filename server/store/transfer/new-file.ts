// Writes a file completely or not at all: first under another name in the same folder, synced to the disk, and only then under
// its own name. Never replaces an existing file.
import { randomBytes } from 'node:crypto'
import { closeSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { CarillonError } from '../../errors.ts'
import { syncFolder, syncToDisk } from '../../files/durable-file.ts'

/**
 * `write` gets an empty file (mode 0600); what it writes there becomes the file at `path`. Throws CarillonError if the file exists
 * or the system refuses. Leaves nothing behind, not even if the process exits before the end.
 */
export async function writeNewFile<Result>(path: string, write: (draft: string) => Promise<Result>): Promise<Result> {
  if (path === '') throw new CarillonError('INVALID_REQUEST', 'The new file has no name')
  if (isAnythingAt(path)) throw alreadyExists(path)
  // Random, since the process id is the same in every container.
  const draft = `${path}.${randomBytes(6).toString('hex')}.part`
  const remove = () => {
    rmSync(draft, { force: true })
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
    throw isSystemError(error) ? notWritten(path, error) : error
  } finally {
    remove()
    process.off('exit', remove)
  }
}

/** Also true for a symbolic link to a file that does not exist. */
function isAnythingAt(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}

function notWritten(path: string, error: Error): CarillonError {
  return new CarillonError('UNAVAILABLE', `${path} cannot be written: ${error.message}`, {
    remedy: 'Nothing is left of it.',
    cause: error,
  })
}

/** A link never replaces a file that was created since the check. Some network disks have no links: there a second check must do. */
function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (isAnythingAt(path)) throw alreadyExists(path)
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    renameSync(draft, path)
  }
}

function alreadyExists(path: string): CarillonError {
  return new CarillonError('CONFLICT', `${path} already exists and was left as it is`, { remedy: 'Name a new file.' })
}
