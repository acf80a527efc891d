// A finding: the result of one check, as a state, a sentence and what to change.
import { CarillonError, messageOf } from '../basics/errors.ts'

/** `change`: a command, a setting or a line of the proxy's configuration; none if the state is ok. */
export type Finding = { check: string; state: 'ok' | 'warning' | 'fault'; found: string; change?: string }
type Wrong = { found: string; change: string }

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found }
}

/** It works, but could be better or safer. */
export function warning(check: string, wrong: Wrong): Finding {
  return { check, state: 'warning', ...wrong }
}

/** It does not work, or exposes a secret. */
export function fault(check: string, wrong: Wrong): Finding {
  return { check, state: 'fault', ...wrong }
}

/** An error as a fault. `change` is for an error that has no remedy. */
export function faultOf(check: string, error: unknown, change: string): Finding {
  if (!(error instanceof CarillonError)) return fault(check, { found: messageOf(error), change })
  return fault(check, { found: error.problem, change: error.remedy ?? change })
}

/** How far another clock may be from this machine's. Tokens and revocations tolerate a minute (T6). */
const toleratedMs = 5_000
const leewayMs = 60_000

export function clockFinding(check: string, { whose, aheadMs }: { whose: string; aheadMs: number }): Finding {
  const apart = Math.abs(aheadMs)
  if (apart <= toleratedMs) return ok(check, `${whose} agrees with this machine's`)
  const found = `${whose} is ${Math.round(apart / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's`
  const change = 'timedatectl set-ntp true (on the machine whose clock is wrong)'
  return (apart > leewayMs ? fault : warning)(check, { found, change })
}
