// Describes the machine: processor, disk, versions, which core runs the server and which the load.
import { spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { asUs } from './table.ts'

/** The measured server, the load on it, or all cores. */
export type Role = 'server' | 'load' | 'anywhere'

const affinity =
  spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' }).stdout ?? ''
/** Such as 0 and 3 of `list: 0-3`: the first and the last core that this process may use. */
const cores = /list: (.+)/.exec(affinity)?.[1]?.match(/\d+/g) ?? []
const canPin = cores.length > 1

/** The command prefix that pins a process to the core of its role; empty if cores cannot be chosen. */
export function coreArguments(role: Role): string[] {
  if (!canPin || role === 'anywhere') return []
  return ['taskset', '-c', String(cores.at(role === 'server' ? -1 : 0))]
}

export type Fact = readonly [what: string, value: string]

export function describeMachine(dir: string): Fact[] {
  return [
    ['processor', `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores`],
    ['memory', `${(totalmem() / 2 ** 30).toFixed(0)} GiB`],
    ['system', `${type()} ${release().split('-')[0]}`],
    ['disk', `4 KiB written and synced: ${syncCost(dir)}`],
    [
      'cores',
      canPin
        ? 'server on one, load on another'
        : 'server and load share them: processes cannot be pinned',
    ],
    ['versions', `Node ${process.versions.node}, SQLite ${process.versions.sqlite}`],
  ]
}

/** The least cost of a durable write: append 4 KiB to a file and call fdatasync. On tmpfs it is nothing. */
function syncCost(dir: string): string {
  const path = join(dir, 'sync-cost')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4096, 1)
  const times = 300
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
