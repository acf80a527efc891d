// Times as they are sent and stored: ISO 8601 in UTC with milliseconds.

let last = { at: 0, text: '1970-01-01T00:00:00.000Z' }

/** `at` in milliseconds since 1970. Many requests of one moment have the same time. */
export function iso(at: number): string {
  if (at !== last.at) last = { at, text: new Date(at).toISOString() }
  return last.text
}

/** 2026-01-01 09:30 UTC */
export function displayTime(at: number): string {
  return `${iso(at).slice(0, 16).replace('T', ' ')} UTC`
}
