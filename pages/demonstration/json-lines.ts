// Breaks JSON into lines for display, without a change of its text: the lines joined are the text as it travelled.

export type JsonLine = { depth: number; text: string }

/** Undefined if the text is no JSON, or has white space of its own. An object in a list stays one line. */
export function jsonLines(text: string): JsonLine[] | undefined {
  try {
    const lines = linesOf(JSON.parse(text), 0)
    return lines.map((line) => line.text).join('') === text ? lines : undefined
  } catch {
    return undefined
  }
}

function linesOf(value: unknown, depth: number): JsonLine[] {
  if (typeof value !== 'object' || value === null) return [{ depth, text: JSON.stringify(value) }]
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const members = Array.isArray(value)
    ? value.map((item) => [{ depth: depth + 1, text: JSON.stringify(item) }])
    : Object.entries(value).map(([name, member]) => named(name, linesOf(member, depth + 1)))
  if (members.length === 0) return [{ depth, text: `${open}${close}` }]
  const inner = members.flatMap((lines, at) => (at < members.length - 1 ? withComma(lines) : lines))
  return [{ depth, text: open as string }, ...inner, { depth, text: close as string }]
}

function named(name: string, [first, ...rest]: JsonLine[]): JsonLine[] {
  return first === undefined ? [] : [{ ...first, text: `${JSON.stringify(name)}:${first.text}` }, ...rest]
}

function withComma(lines: JsonLine[]): JsonLine[] {
  return lines.map((line, at) => (at === lines.length - 1 ? { ...line, text: `${line.text},` } : line))
}
