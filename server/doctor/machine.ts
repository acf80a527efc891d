// Which Node is this, and is the clock of this machine right? launch.js chooses a Node that is new enough; what the database
// engine needs is checked in store/.
import { type Finding, fault, ok, warning } from './finding.ts'

/** How far another clock may be from this machine's. Tokens and revocations tolerate a minute (SECURITY.md, T6). */
const toleratedMs = 5_000
const leewayMs = 60_000

type Machine = { node: string; version: string; now: () => number }

/** This program did not exist before. */
const earliest = Date.UTC(2026, 0, 1)

export function examineMachine({ node, version, now }: Machine): Finding[] {
  const time = `${new Date(now()).toISOString().slice(0, 19)}Z`
  const past = { found: `${time} is in the past`, change: 'timedatectl set-ntp true' }
  return [ok('Carillon', version), ok('Node', node), now() >= earliest ? ok('clock', time) : fault('clock', past)]
}

export function clockFinding(check: string, { whose, aheadMs }: { whose: string; aheadMs: number }): Finding {
  const apart = Math.abs(aheadMs)
  if (apart <= toleratedMs) return ok(check, `${whose} agrees with this machine's`)
  const found = `${whose} is ${Math.round(apart / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's`
  const change = 'timedatectl set-ntp true (on the machine whose clock is wrong)'
  return (apart > leewayMs ? fault : warning)(check, { found, change })
}
