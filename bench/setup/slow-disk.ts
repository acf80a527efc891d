// Makes the disk slow for one process: each fsync takes 20 ms longer. It uses a small preloaded library if there is a C
// compiler, and strace otherwise.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Start } from '../processes/processes.ts'

export const slowByMs = 20

/** How to start the process; undefined if the machine has neither. `how` names the method. */
export type SlowDisk = Pick<Start, 'env' | 'under'> & { how: string }

export function findSlowDisk(dir: string): SlowDisk | undefined {
  if (process.platform !== 'linux') return undefined
  const library = join(dir, 'slow-fsync.so')
  const source = fileURLToPath(new URL('./slow-fsync.c', import.meta.url))
  const us = slowByMs * 1000
  if (isDone('cc', '-shared', '-fPIC', '-O1', '-o', library, source))
    return { env: { LD_PRELOAD: library, SLOW_FSYNC_US: String(us) }, how: 'bench/setup/slow-fsync.c' }
  if (!isDone('strace', '--version')) return undefined
  const calls = 'fsync,fdatasync'
  // -D: the traced process remains a child of this one.
  const under = ['strace', '-D', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', `trace=${calls}`]
  return { under: [...under, '-e', `inject=${calls}:delay_exit=${us}`], how: 'strace' }
}

function isDone(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}
