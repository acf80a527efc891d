import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readOnlyMount, rightsOf } from './file-mode.ts'

test('advises fsck for a file system that the kernel made read-only after an error', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  const { PATH } = process.env
  t.after(() => {
    process.env.PATH = PATH
    rmSync(folder, { recursive: true })
  })
  // findmnt of util-linux 2.41 prints this for an ext4 after its `trigger_fs_error`.
  writeFileSync(
    join(folder, 'findmnt'),
    '#!/bin/sh\necho /dev/vdb1 rw,relatime,errors=remount-ro,emergency_ro\n',
    {
      mode: 0o755,
    },
  )
  assert.equal(readOnlyMount('folder', folder), undefined)
  process.env.PATH = `${folder}:${PATH}`
  const finding = readOnlyMount('folder', folder)
  assert.equal(finding?.state, 'fault')
  assert.match(finding?.change ?? '', /umount \/dev\/vdb1 && fsck \/dev\/vdb1$/)
  assert.doesNotMatch(finding?.change ?? '', /room|remount/)
})

test('advises to change the mount for a read-only file system, and chmod for a file without write permission', () => {
  const finding = readOnlyMount('folder', '/srv/data', 'EROFS')
  assert.deepEqual(
    [finding?.state, finding?.found],
    ['fault', '/srv/data is on a file system that is mounted read-only'],
  )
  assert.match(
    finding?.change ?? '',
    /^mount -o remount,rw "\$\(findmnt -no TARGET -T \/srv\/data\)" /,
  )
  assert.doesNotMatch(finding?.change ?? '', /ch(mod|own)/)
  for (const code of ['EACCES', 'EPERM', undefined])
    assert.equal(readOnlyMount('folder', '/srv', code), undefined)

  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  try {
    const file = join(folder, 'carillon.db')
    writeFileSync(file, '', { mode: 0o600 })
    chmodSync(file, 0o400)
    assert.equal(readOnlyMount('database file', file), undefined)
    const [mode] = rightsOf('database file', file)
    assert.deepEqual([mode?.state, mode?.change], ['fault', `chmod 600 ${file}`])
    const [reading] = rightsOf('secret', file, 0o400)
    assert.deepEqual(
      [reading?.state, reading?.found],
      ['ok', `only its owner can use ${file} (mode 0400)`],
    )
    chmodSync(file, 0o044)
    const [hidden] = rightsOf('secret', file, 0o400)
    assert.deepEqual(
      [hidden?.state, hidden?.found],
      ['fault', `its owner cannot use ${file} (mode 0044)`],
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
