// Describes the machine: processor, disk, versions, which core runs the server and which the load.
import { spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'

/** The measured server, the load on it, or all cores. */
export type Role = 'server' | 'load' | 'anywhere'

const allowedCores = readAllowedCores()
const canPin = allowedCores.length > 1 && spawnSync('taskset', ['--version']).status === 0

/** The command prefix that pins a process to the core of its role; empty if cores cannot be chosen. */
export function coreArguments(role: Role): string[] {
  if (!canPin || role === 'anywhere') return []
  return ['taskset', '-c', String(role === 'server' ? allowedCores.at(-1) : allowedCores[0])]
}

function readAllowedCores(): number[] {
  try {
    const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? ''
    return list.split(',').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, i) => first + i)
    })
  } catch {
    return []
  }
}

/** Commands to type in the checkout. */
export function commands(): Fact[] {
  const node = (role: Role, args: string) => [...coreArguments(role), 'node', args].join(' ')
  return [
    ['all of it', 'npm run bench'],
    ['one scenario', 'npm run bench -- list'],
    ['the server', node('server', '--import ./bench/processes/preload.ts server/bin/launch.js serve')],
    ['the floor', node('server', 'bench/floors/floor.ts')],
    ['the load', node('load', 'bench/load/load.ts')],
    ['the clients of streams', node('load', 'bench/load/listen.ts')],
    ['their floor', node('anywhere', 'bench/floors/stream-floor.ts')],
  ]
}

export type Fact = readonly [what: string, value: string]

export function describeMachine(dir: string): Fact[] {
  const { sqlite = '', v8 = '' } = process.versions
  return [
    ['processor', `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores${isVirtual() ? ', virtual' : ''}`],
    ['memory', `${(totalmem() / 2 ** 30).toFixed(0)} GiB`],
    ['system', `${type()} ${release().split('-')[0]}`],
    ['disk', `${fileSystem(dir)}; 4 KiB written and synced: ${describeSync(syncCost(dir))}`],
    [
      'cores',
      canPin ? 'server on one, load on another' : 'server and load share them, since processes cannot be pinned',
    ],
    ['versions', `Node ${process.version.slice(1)}, SQLite ${sqlite}, V8 ${v8}, ${packages()}`],
  ]
}

function isVirtual(): boolean {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8').includes(' hypervisor')
  } catch {
    return false
  }
}

function packages(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../server/package.json', import.meta.url), 'utf8'))
  const names = ['fastify', 'pino', 'jose', '@node-rs/argon2']
  return names.map((name) => `${name} ${manifest.dependencies[name] ?? 'not used'}`).join(', ')
}

/** The file system's name, by Linux's magic number. On tmpfs a sync costs nothing. */
function fileSystem(dir: string): string {
  const known: Record<number, string> = {
    61267: 'ext4',
    16914836: 'tmpfs (figures of durable writes have no meaning here)',
    2435016766: 'btrfs',
    1481003842: 'xfs',
    2035054128: 'overlayfs',
  }
  return known[statfsSync(dir).type] ?? 'another file system'
}

export type SyncCost = { medianUs: number; p99Us: number }

/** The least cost of a durable write: append 4 KiB to a file and call fdatasync. */
export function syncCost(dir: string, times = 300): SyncCost {
  const path = join(dir, 'sync-cost')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4096, 1)
  const costs = Array.from({ length: times }, () => {
    const startedAt = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    return (performance.now() - startedAt) * 1000
  }).sort((a, b) => a - b)
  closeSync(file)
  rmSync(path)
  return { medianUs: costs[Math.floor(times / 2)] as number, p99Us: costs[Math.floor(times * 0.99)] as number }
}

export function describeSync({ medianUs, p99Us }: SyncCost): string {
  return `${medianUs.toFixed(0)} us (p99 ${p99Us.toFixed(0)} us)`
}
