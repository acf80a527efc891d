// Are Node and the clock of this machine right? What the database engine needs is checked in store/.
import { type Finding, fault, ok } from './finding.ts'

const minNode = 24
/** This program did not exist before. */
const earliest = Date.UTC(2026, 0, 1)

export function examineMachine({ node, now }: { node: string; now: () => number }): Finding[] {
  return [nodeVersion(node), clock(now())]
}

function nodeVersion(node: string): Finding {
  const major = Number.parseInt(node, 10)
  if (major >= minNode) return ok('Node', node)
  const found = `${node}; Carillon needs ${minNode} or later`
  return fault('Node', { found, change: 'install a newer Node from https://nodejs.org' })
}

function clock(now: number): Finding {
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`
  if (now >= earliest) return ok('clock', time)
  return fault('clock', { found: `${time} is in the past`, change: 'timedatectl set-ntp true' })
}
