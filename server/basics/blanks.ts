// Strips SP and HTAB, the only whitespace that HTTP allows around a field value (OWS, RFC 9110, section 5.6.3). `trim()` also
// strips others, such as U+00A0, which a proxy or a browser treats as part of a value.

export function stripBlanks(text: string): string {
  return /^[ \t]*((?:.*[^ \t])?)/s.exec(text)?.[1] ?? ''
}
