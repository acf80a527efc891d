// How far may another clock be from this machine's? Tokens and revocations tolerate a minute (SECURITY.md, T6).
import { type Finding, fault, ok, warning } from './finding.ts'

const toleratedMs = 5_000
const leewayMs = 60_000

export function clockFinding(check: string, { whose, aheadMs }: { whose: string; aheadMs: number }): Finding {
  const apart = Math.abs(aheadMs)
  if (apart <= toleratedMs) return ok(check, `${whose} agrees with this machine's`)
  const found = `${whose} is ${Math.round(apart / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's`
  const change = 'timedatectl set-ntp true (on the machine whose clock is wrong)'
  return (apart > leewayMs ? fault : warning)(check, { found, change })
}
