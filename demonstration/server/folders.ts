// The folders of the demonstration's worlds, below the folder for temporary files: readable by this user only, removed with
// their world, and those of a process that was killed at the next start.
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { CarillonError } from '../../server/basics/errors.ts'

/** The machine is part of the name, because containers can share a folder and count their processes alone. */
const prefix = `carillon-demonstration-${hostname().replaceAll(/[^\w]/g, '_')}-`

const made = new Set<string>()

/** Mode 0700, and a random name: another user of the machine can neither read it nor have made it before. Throws UNAVAILABLE. */
export function makeFolder(parent: string): string {
  try {
    const path = mkdtempSync(join(parent, `${prefix}${process.pid}-`))
    made.add(path)
    return path
  } catch (cause) {
    const remedy = 'The operator can set TMPDIR to a folder that can be written.'
    throw new CarillonError('UNAVAILABLE', 'The demonstration cannot store its files', { remedy, cause })
  }
}

export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true })
  made.delete(path)
}

/** Removes the folders of this user's processes that no longer run. In a container, a new process has the number of the one that ended. */
export function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN
    const path = join(parent, name)
    if (Number.isNaN(pid) || made.has(path)) continue
    // Not a link, and not a folder that another user has put there.
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found?.isDirectory() || ![-1, found.uid].includes(userInfo().uid)) continue
    if (pid === process.pid || !isRunning(pid)) removeFolder(path)
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
