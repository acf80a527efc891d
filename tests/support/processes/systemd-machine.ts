// A container of systemd-nspawn is a machine with systemd as process 1. Its disk is that of this
// machine, and what it writes goes to memory. It needs root and systemd-nspawn (Debian:
// systemd-container).
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../../tools/run.ts'

/** Returns undefined if this machine can have one. */
export function whyNoSystemd(): string | undefined {
  if (process.geteuid?.() !== 0) return 'not root'
  return spawnSync('systemd-nspawn', ['--version']).status === 0
    ? undefined
    : 'systemd-nspawn is not on this machine'
}

const unit = `[Unit]
DefaultDependencies=no
Requires=basic.target
After=basic.target
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
ExecStart=/bin/bash -eux /drill/script
StandardOutput=file:/drill/output
StandardError=inherit
TimeoutStartSec=300
`

/** Boots, runs `script` as root (`bash -eux`) and switches off. `file` is in /drill. */
export async function runUnderSystemd(
  script: string,
  file: string,
): Promise<{ status: number | null; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-systemd-'))
  run('mount', ['-t', 'tmpfs', 'tmpfs', folder])
  const [upper, work, root] = ['upper', 'work', 'root'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  try {
    for (const path of [upper, work, root, join(upper, 'drill'), join(upper, 'etc/systemd/system')])
      mkdirSync(path, { recursive: true, mode: 0o755 })
    writeFileSync(join(upper, 'etc/systemd/system/drill.service'), unit)
    writeFileSync(join(upper, 'drill/script'), script)
    copyFileSync(file, join(upper, 'drill/file'))
    run('mount', [
      '-t',
      'overlay',
      'overlay',
      '-o',
      `lowerdir=/,upperdir=${upper},workdir=${work}`,
      root,
    ])
    const args = [
      `--directory=${root}`,
      '--register=no',
      '--keep-unit',
      '--private-network',
      '--link-journal=no',
    ]
    const machine = spawn('systemd-nspawn', [
      ...args,
      '--console=pipe',
      '--boot',
      'systemd.unit=drill.service',
    ])
    let console = ''
    for (const stream of [machine.stdout, machine.stderr])
      stream.on('data', (part) => (console += part))
    const status = await new Promise<number | null>((resolve) => machine.on('close', resolve))
    return { status, output: readFileSync(join(upper, 'drill/output'), 'utf8') || console }
  } finally {
    spawnSync('umount', [root])
    run('umount', [folder])
    rmSync(folder, { recursive: true })
  }
}
