// Root may do everything, so this reads the mode.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { quoted } from '../basics/control-characters.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

export function rightsOf(check: string, path: string, needed = 0o600): Finding[] {
  if (process.platform === 'win32') return []
  const status = statSync(path)
  const isFolder = status.isDirectory()
  const ofOwner = isFolder ? 0o700 : needed
  const mode = status.mode & 0o777
  const inMode = `(mode ${mode.toString(8).padStart(4, '0')})`
  const change = `chmod ${isFolder ? 700 : 600} ${quoted(path)}`
  if ((mode & ofOwner) !== ofOwner)
    return [fault(check, { found: `its owner cannot use ${path} ${inMode}`, change })]
  const isForAll = (mode & 0o007) !== 0
  const isChanged = (mode & 0o022) !== 0
  const use = isFolder ? 'enter' : 'read'
  const may = isChanged ? 'change' : use
  const found = `${isForAll ? 'every user of this machine' : 'its group'} may ${may} ${path} ${inMode}`
  // A user who may change the folder can replace its files.
  const isFault = isFolder ? isChanged : isForAll
  const others =
    (mode & 0o077) === 0
      ? ok(check, `only its owner can use ${path} ${inMode}`)
      : (isFault ? fault : warning)(check, { found, change })
  return [others, ...foreign(check, path, status.uid)]
}

/** Modes do not help on a read-only file system. */
export function readOnlyMount(
  check: string,
  path: string,
  code = codeOfWriting(path),
): Finding | undefined {
  const mount =
    spawnSync('findmnt', ['-rvno', 'SOURCE,OPTIONS', '-T', path], { encoding: 'utf8' }).stdout ?? ''
  if (mount.includes('emergency_ro')) {
    const found = `the kernel made the file system of ${path} read-only after an error (dmesg)`
    // After the umount, findmnt would name the file system around it.
    const [source] = mount.split(' ')
    return fault(check, {
      found,
      change: `stop the service, then: umount ${source} && fsck ${source}`,
    })
  }
  if (code !== 'EROFS') return undefined
  const otherwise =
    'in a container: mount the volume without :ro; if you did not mount it read-only, the disk may be failing: dmesg'
  const change = `mount -o remount,rw "$(findmnt -no TARGET -T ${quoted(path)})"  (${otherwise})`
  return fault(check, { found: `${path} is on a file system that is mounted read-only`, change })
}

function codeOfWriting(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

/** Assumes that the service runs as the folder's owner. */
function foreign(check: string, path: string, owner: number): Finding[] {
  const user = process.geteuid?.() ?? 0
  if (user === 0) return foreignToFolder(check, path, owner)
  const code = codeOfWriting(path)
  if (code === undefined || code === 'EROFS') return []
  const found = `${path} belongs to user ${owner} and cannot be written by this user (${user})`
  return [
    fault(check, {
      found,
      change: `run this as the service's user, or: chown ${user} ${quoted(path)}`,
    }),
  ]
}

function foreignToFolder(check: string, path: string, owner: number): Finding[] {
  const folder = dirname(resolve(path))
  const service = statSync(folder).uid
  if (owner === service) return []
  const found = `${path} belongs to user ${owner}, and the folder around it to user ${service}`
  if (service !== 0)
    return [
      fault(check, { found, change: `chown -R --reference=${quoted(folder)} ${quoted(path)}` }),
    ]
  // SQLite needs other files beside it.
  return check === 'database file'
    ? [fault(check, { found, change: `chown ${owner} ${quoted(folder)}` })]
    : []
}
