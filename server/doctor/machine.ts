// Which Node is this, and is the clock of this machine right? launch.js chooses a Node that is new enough; what the database
// engine needs is checked in store/.
import { type Finding, fault, ok } from './finding.ts'

/** This program did not exist before. */
const earliest = Date.UTC(2026, 0, 1)

export function examineMachine({ node, now }: { node: string; now: () => number }): Finding[] {
  return [ok('Node', node), clock(now())]
}

function clock(now: number): Finding {
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`
  if (now >= earliest) return ok('clock', time)
  return fault('clock', { found: `${time} is in the past`, change: 'timedatectl set-ntp true' })
}
