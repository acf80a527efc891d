// Processor time and memory of processes that do not report them to the bench.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The unit in which Linux counts processor time. */
const tickUs = 10_000

/** Processor time of a process with its children, ended ones included; 0 if there is no /proc. */
export function processorUsOf(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
    const ticks = [String(pid), ...children].map((one) => {
      const fields = readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      const [user = 0, system = 0, userOfEnded = 0, systemOfEnded = 0] = fields
        .slice(11, 15)
        .map(Number)
      return user + system + (one === String(pid) ? userOfEnded + systemOfEnded : 0)
    })
    return ticks.reduce((sum, of) => sum + of, 0) * tickUs
  } catch {
    return 0
  }
}

/** Of the process and its children, as the system counts it. `ps` exists on every system but Windows. */
export function residentMegabytes(pid: number): number {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
  const processes = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const kib = (of: number): number =>
    processes.reduce((sum, [id, parent = 0, own = 0]) => {
      if (id === of) return sum + own
      return parent === of ? sum + kib(Number(id)) : sum
    }, 0)
  return (kib(pid) * 1024) / 1e6
}
