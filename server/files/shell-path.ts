// Quotes a path for a command that an operator copies into a shell.

/** In single quotes if a character needs them. */
export function quoted(path: string): string {
  return /^[\w./:@%+=-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
