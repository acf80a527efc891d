// Times as they are sent and stored: ISO 8601 in UTC with milliseconds.

/** `at` in milliseconds since 1970. */
export function iso(at: number): string {
  return new Date(at).toISOString()
}

/** 2026-01-01 09:30 UTC */
export function displayTime(at: number): string {
  return `${iso(at).slice(0, 16).replace('T', ' ')} UTC`
}
