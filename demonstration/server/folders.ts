// The folders of the demonstration's worlds, below the folder for temporary files: readable by this user only, removed with
// their world, and those of a process that was killed at the start of the next one.
import { readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** The machine is part of the name, because containers can share a folder and count their processes alone. */
const prefix = `carillon-demonstration-${hostname().replaceAll(/[^\w]/g, '_')}-`

/** What `mkdtemp` completes: with mode 0700 and a random end, so that another user can neither read it nor have made it before. */
export const folderPrefix = `${prefix}${process.pid}-`

/** At the start, before this process has a folder: in a container, it has the number of the one that ended. */
export function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN
    if (Number.isNaN(pid) || (pid !== process.pid && isRunning(pid))) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // It belongs to another user.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
