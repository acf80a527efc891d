// How to write a path in a command that a person copies into a shell.

/** In single quotes, unless no character of it needs them. */
export function quoted(path: string): string {
  return /^[\w./:@%+=-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
