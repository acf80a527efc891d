// What was found by looking, in one form for all who look: how it stands, in words, and the one line to change.

import { CarillonError, messageOf } from '../errors.ts'

export type Finding = {
  /** What was looked at, in a word or two. */
  check: string
  state: 'ok' | 'warning' | 'fault'
  found: string
  /** What puts it right: a command, a setting, a line of the proxy's configuration. None where all is well. */
  change?: string
}
type Wrong = Required<Pick<Finding, 'found' | 'change'>>

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found }
}

/** It works, and could be better or safer. */
export function warning(check: string, { found, change }: Wrong): Finding {
  return { check, state: 'warning', found, change }
}

/** It does not work, or gives away what is secret. */
export function fault(check: string, { found, change }: Wrong): Finding {
  return { check, state: 'fault', found, change }
}

/** An error as a fault. `change` is for an error that has no remedy. */
export function faultOf(check: string, error: unknown, change: string): Finding {
  if (!(error instanceof CarillonError)) return fault(check, { found: messageOf(error), change })
  return fault(check, { found: error.problem, change: error.remedy ?? change })
}
