// Characters of a client's text that would control a terminal, or begin or turn a line of it: control characters (ECMA-48), U+2028 and
// U+2029, and characters that change the direction of text. JSON leaves most of them as they are (L8).

const controlling = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const escaped = new RegExp(`${controlling.source}(?<![\n\t])`, 'gu')

/** Writes them as `\u009b`. Line feeds and tabs stay: a text of ours has them between lines, and JSON escapes them itself. */
export function escapeControls(text: string): string {
  return text.replace(escaped, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Replaces them, line feeds and tabs included. */
export function withoutControls(text: string): string {
  return text.replace(controlling, '\ufffd')
}

export function jsonLine(value: unknown): string {
  return escapeControls(JSON.stringify(value))
}

/** A path in a command that an operator copies into a shell. */
export function quoted(path: string): string {
  return /^[\w./:@%+=-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
