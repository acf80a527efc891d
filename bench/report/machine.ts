// Describes the machine: processor, disk, versions, which core runs the server and which the load.
import { spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { asUs } from './table.ts'

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

export type Fact = readonly [what: string, value: string]

export function describeMachine(dir: string): Fact[] {
  const cores = canPin ? 'server on one, load on another' : 'server and load share them: processes cannot be pinned'
  return [
    ['processor', `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores`],
    ['memory', `${(totalmem() / 2 ** 30).toFixed(0)} GiB`],
    ['system', `${type()} ${release().split('-')[0]}`],
    ['disk', `4 KiB written and synced: ${syncCost(dir)}`],
    ['cores', cores],
    ['versions', `Node ${process.versions.node}, SQLite ${process.versions.sqlite}`],
  ]
}

/** The least cost of a durable write: append 4 KiB to a file and call fdatasync. On tmpfs it is nothing. */
function syncCost(dir: string): string {
  const path = join(dir, 'sync-cost')
  const file = openSync(path, 'w')
  const [block, times] = [Buffer.alloc(4096, 1), 300]
  const costs = Array.from({ length: times }, () => {
    const startedAt = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    return (performance.now() - startedAt) * 1000
  }).sort((a, b) => a - b)
  closeSync(file)
  rmSync(path)
  return `${asUs(costs[Math.floor(times / 2)] as number)} (p99 ${asUs(costs[Math.floor(times * 0.99)] as number)})`
}
