// What doctor finds about a file that cannot be written, by the reason that the system gives.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isEmergencyReadOnly, readOnlyFinding, readOnlyMount, rightsOf } from './file-mode.ts'

test('advises to change the mount for a read-only file system, and chmod for a file without write permission', () => {
  const finding = readOnlyFinding('folder', '/srv/data', 'EROFS')
  assert.deepEqual(
    [finding?.state, finding?.found],
    ['fault', '/srv/data is on a file system that is mounted read-only'],
  )
  assert.match(finding?.change ?? '', /^mount -o remount,rw "\$\(findmnt -no TARGET -T \/srv\/data\)" /)
  assert.doesNotMatch(finding?.change ?? '', /ch(mod|own)/)
  for (const code of ['EACCES', 'EPERM', undefined]) assert.equal(readOnlyFinding('folder', '/srv', code), undefined)

  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  try {
    const file = join(folder, 'carillon.db')
    writeFileSync(file, '', { mode: 0o600 })
    chmodSync(file, 0o400)
    assert.equal(readOnlyMount('database file', file), undefined)
    const [mode] = rightsOf('database file', file)
    assert.deepEqual([mode?.state, mode?.change], ['fault', `chmod 600 ${file}`])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a file system that the kernel made read-only after an error is found by its option, and no other mount is', () => {
  const mounts = [
    '24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw',
    '30 24 8:2 / /srv/my\\040data rw,relatime shared:2 - ext4 /dev/sdb1 rw,emergency_ro',
    '31 30 8:3 / /srv/my\\040data/new rw,relatime - ext4 /dev/sdc1 rw',
  ].join('\n')
  assert.equal(isEmergencyReadOnly('/srv/my data/carillon.db', mounts), true)
  assert.equal(isEmergencyReadOnly('/srv/my data', mounts), true)
  assert.equal(isEmergencyReadOnly('/srv/my data/new/carillon.db', mounts), false)
  assert.equal(isEmergencyReadOnly('/srv/my data2/carillon.db', mounts), false)
  assert.equal(isEmergencyReadOnly('/var/carillon.db', mounts), false)
  assert.equal(isEmergencyReadOnly('/var/carillon.db', ''), false)
})
