// What was found by looking, in one form for all who look: how it stands, in words, and the one line to change.

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

/** A fault in the words of an error that says first what is wrong, and then what to do. */
export function faultOf(check: string, error: unknown, otherwise: string): Finding {
  const message = error instanceof Error ? error.message : String(error)
  const end = message.search(/\. (?=[A-Z])/)
  if (end < 0) return fault(check, { found: message.replace(/\.$/, ''), change: otherwise })
  return fault(check, { found: message.slice(0, end), change: message.slice(end + 2).replace(/\.$/, '') })
}
