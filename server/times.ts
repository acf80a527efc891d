// Times as they are sent and stored: ISO 8601 in UTC with milliseconds.

/** `at` in milliseconds since 1970. */
export function iso(at: number): string {
  return new Date(at).toISOString()
}
