// These characters control a terminal, or begin or turn a line (ECMA-48). JSON escapes few (L8).

const controlling = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const escaped = new RegExp(`${controlling.source}(?<![\n\t])`, 'gu')

/** JSON escapes line feeds and tabs itself. */
export function escapeControls(text: string): string {
  return text.replace(
    escaped,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export function withoutControls(text: string): string {
  return text.replace(controlling, '\ufffd')
}

export function jsonLine(value: unknown): string {
  return escapeControls(JSON.stringify(value))
}

/** An operator copies it into a shell. */
export function quoted(path: string): string {
  return /^[\w./:@%+=-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
