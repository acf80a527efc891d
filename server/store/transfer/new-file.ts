// Writes a file completely or not at all: first under another name in the same folder, synced to the disk, and only then under
// its own name. Never replaces an existing file.
import { randomBytes } from 'node:crypto'
import { closeSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder, syncToDisk } from '../../basics/durable-file.ts'
import { CarillonError } from '../../basics/errors.ts'

/**
 * `write` gets an empty file (mode 0600); what it writes there becomes the file at `path`. Throws CarillonError if the file exists
 * or the system refuses. Leaves nothing behind, not even if the process exits before the end.
 */
export async function writeNewFile<Result>(path: string, write: (draft: string) => Promise<Result>): Promise<Result> {
  refuseExisting(path)
  // Random, since the process id is the same in every container.
  const draft = `${path}.${randomBytes(6).toString('hex')}.part`
  const remove = () => rmSync(draft, { force: true })
  process.on('exit', remove)
  try {
    closeSync(openSync(draft, 'wx', 0o600))
    const result = await write(draft)
    syncToDisk(draft)
    publish(draft, path)
    syncFolder(dirname(path))
    return result
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    const remedy = 'Nothing is left of it.'
    throw new CarillonError('UNAVAILABLE', `${path} cannot be written: ${error.message}`, { remedy, cause: error })
  } finally {
    remove()
    process.off('exit', remove)
  }
}

/** A link never replaces a file that was created since the check. Some network disks have no links: there a second check must do. */
function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    refuseExisting(path)
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    renameSync(draft, path)
  }
}

/** Also a symbolic link to a file that does not exist. */
function refuseExisting(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
  throw new CarillonError('CONFLICT', `${path} already exists and was left as it is`, { remedy: 'Name a new file.' })
}
