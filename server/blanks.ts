// Strips SP and HTAB, the only whitespace that HTTP allows around a field value (OWS, RFC 9110, section 5.6.3). `trim()` also
// strips others, such as U+00A0, which a proxy or a browser treats as part of a value.

const space = 0x20
const tab = 0x09

export function isBlank(unit: number): boolean {
  return unit === space || unit === tab
}

/** The part of `text` from `from` to before `to`, without blanks at its ends. */
export function stripBlanks(text: string, from = 0, to = text.length): string {
  let [start, end] = [from, to]
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}
