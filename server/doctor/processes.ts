// Which processes have a database file open? Linux lists the open files of each process: of this user's processes, or of all
// processes for root, but not of another machine or container.
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { type Finding, fault, ok, warning } from './finding.ts'

export type OpenedBy = { pid: number; args: string[] }

const check = 'processes'

/** All processes except this one; undefined if the system does not list them. */
export function processesWith(file: string): OpenedBy[] | undefined {
  if (process.platform !== 'linux') return undefined
  const { dev, ino } = statSync(file)
  const isOpenIn = (pid: string) =>
    listed(`/proc/${pid}/fd`).some((number) => {
      try {
        const path = `/proc/${pid}/fd/${number}`
        // A socket or a pipe has no path.
        if (!readlinkSync(path).startsWith('/')) return false
        const opened = statSync(path)
        return opened.dev === dev && opened.ino === ino
      } catch {
        return false
      }
    })
  return listed('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && isOpenIn(name))
    .map((pid) => ({ pid: Number(pid), args: argsOf(pid) }))
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // A process of another user, or one that has just exited.
    return []
  }
}

function argsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  } catch {
    return []
  }
}

/** Two services on one file see each other's changes up to a second late, and block each other's writes. */
export function processFindings(processes: readonly OpenedBy[] | undefined): Finding[] {
  if (processes === undefined) return []
  const services = processes.filter((one) => commandOf(one) === 'serve')
  const strangers = processes.filter((one) => commandOf(one) === undefined)
  const findings: Finding[] = []
  if (services.length > 1) {
    const found = `${services.length} services have this file open: ${listOf(services)}`
    const change = `stop all but one (kill ${services.at(-1)?.pid}); several on one database: docs/scale.md, PostgreSQL`
    findings.push(fault(check, { found, change }))
  }
  if (strangers.length > 0) {
    const found = `another program has this file open: ${listOf(strangers)}`
    const change = `end it if it writes, or keeps the file open for long: kill ${strangers[0]?.pid}`
    findings.push(warning(check, { found, change }))
  }
  if (findings.length > 0) return findings
  const [service] = services
  return [ok(check, service ? `one service has it open, process ${service.pid}` : 'no service has it open')]
}

/** The `carillon` command of the process; undefined if it is another program. */
function commandOf({ args }: OpenedBy): string | undefined {
  const at = args.findIndex((arg) => /(^|\/)(carillon(\.[jt]s)?|launch\.js|relayed\.js)$/.test(arg))
  return at < 0 ? undefined : (args.slice(at + 1).find((arg) => !arg.startsWith('-')) ?? 'serve')
}

function listOf(processes: readonly OpenedBy[]): string {
  return processes.map(({ pid, args }) => `process ${pid} (${args.join(' ').slice(0, 120) || 'unknown'})`).join(', ')
}
