// Who may read and change a file? Its modes are looked at, not tried: what tries as root may do everything.
import { accessSync, constants, statSync } from 'node:fs'
import { quoted } from '../files/shell-path.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

/** Whether a file or folder is its owner's alone, and of use to its owner. Windows keeps rights in another way: none. */
export function rightsOf(check: string, path: string): Finding[] {
  if (process.platform === 'win32') return []
  const status = statSync(path)
  const isFolder = status.isDirectory()
  const needed = isFolder ? 0o700 : 0o600
  const mode = status.mode & 0o777
  const written = mode.toString(8).padStart(4, '0')
  if ((mode & needed) !== needed) {
    const change = `chmod ${needed.toString(8)} ${quoted(path)}`
    return [fault(check, { found: `${path} cannot be written by its owner (mode ${written})`, change })]
  }
  return [...othersIn({ check, path, mode, isFolder, written }), ...foreign(check, path, status.uid)]
}

type Looked = { check: string; path: string; mode: number; isFolder: boolean; written: string }

function othersIn({ check, path, mode, isFolder, written }: Looked): Finding[] {
  if ((mode & 0o077) === 0) return [ok(check, `${path} is its owner's alone (mode ${written})`)]
  const may = (mode & 0o022) === 0 ? 'read' : 'change'
  const who = (mode & 0o007) === 0 ? 'its group' : 'every user of this machine'
  const found = `${who} may ${isFolder && may === 'read' ? 'enter' : may} ${path} (mode ${written})`
  const change = `chmod ${isFolder ? 700 : 600} ${quoted(path)}`
  // What is in a folder has modes of its own, unless the folder lets others put something else in its place.
  const isFault = isFolder ? may === 'change' : (mode & 0o007) !== 0
  return [(isFault ? fault : warning)(check, { found, change })]
}

/** The fault of a file or folder on a file system that is mounted read-only, which no owner and no mode changes. */
export function readOnlyMount(check: string, path: string): Finding | undefined {
  return readOnlyFinding(check, path, codeOfWriting(path))
}

/** `code` is the error code with which writing fails. */
export function readOnlyFinding(check: string, path: string, code: string | undefined): Finding | undefined {
  if (code !== 'EROFS') return undefined
  return fault(check, {
    found: `${path} is on a file system that is mounted read-only`,
    change:
      `mount -o remount,rw "$(findmnt -no TARGET -T ${quoted(path)})"  (in a container: mount the volume without :ro; ` +
      'if nobody mounted it so, the disk may be failing: dmesg)',
  })
}

/** The error code with which writing to `path` would fail, or undefined if it would not. Writes nothing. */
function codeOfWriting(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

/** Only told to whoever is not root, who may do everything. */
function foreign(check: string, path: string, owner: number): Finding[] {
  const user = process.geteuid?.() ?? 0
  const code = codeOfWriting(path)
  if (code === undefined || code === 'EROFS') return []
  const found = `${path} belongs to user ${owner} and cannot be written by this one (${user})`
  return [fault(check, { found, change: `run this as the service's user, or: chown ${user} ${quoted(path)}` })]
}

/** Where a file belongs to another user than its folder, as after a command that was run as root by mistake. */
export function ownersBeside(check: string, folder: string, files: readonly string[]): Finding[] {
  if (process.platform === 'win32') return []
  const { uid } = statSync(folder)
  return files
    .filter((file) => statSync(file).uid !== uid)
    .map((file) =>
      fault(check, {
        found: `${file} belongs to user ${statSync(file).uid}, its folder to user ${uid}`,
        change: `chown ${uid} ${quoted(file)}`,
      }),
    )
}
