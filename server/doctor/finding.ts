import { CarillonError, messageOf } from '../basics/errors.ts'

export type Finding = {
  check: string
  state: 'ok' | 'warning' | 'fault'
  found: string
  change?: string
}
type Wrong = { found: string; change: string }

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found }
}

export function warning(check: string, wrong: Wrong): Finding {
  return { check, state: 'warning', ...wrong }
}

export function fault(check: string, wrong: Wrong): Finding {
  return { check, state: 'fault', ...wrong }
}

export function faultOf(check: string, error: unknown, change: string): Finding {
  if (!(error instanceof CarillonError)) return fault(check, { found: messageOf(error), change })
  return fault(check, { found: error.problem, change: error.remedy ?? change })
}

/** Tokens and revocations tolerate a minute (T6). */
const toleratedMs = 5_000
const leewayMs = 60_000

export function clockFinding(
  check: string,
  { whose, aheadMs }: { whose: string; aheadMs: number },
): Finding {
  const apart = Math.abs(aheadMs)
  if (apart <= toleratedMs) return ok(check, `${whose} agrees with this machine's`)
  const found = `${whose} is ${Math.round(apart / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's`
  const change = 'timedatectl set-ntp true (on the machine whose clock is wrong)'
  return (apart > leewayMs ? fault : warning)(check, { found, change })
}
