// Finds the regular expressions of a source file: literals, patterns of schemas, and texts that are given to `RegExp`, if they consist of
// constants of the file.
import { parseAst } from 'rolldown/parseAst'

/** `pattern` is undefined if its text cannot be read. */
export type SourcePattern = { line: number; pattern: string | undefined; flags: string }

export type Lang = 'ts' | 'tsx' | 'js'

/** What this reads of a node of the syntax tree (ESTree). */
type Tree = {
  [Part in
    | 'id'
    | 'init'
    | 'key'
    | 'callee'
    | 'tag'
    | 'quasi'
    | 'object'
    | 'property'
    | 'body']?: Tree
} & { [List in 'arguments' | 'expressions' | 'quasis']?: Tree[] } & {
  type: string
  start: number
  name?: string
  value?: unknown
  regex?: Literal
}

/** `standIns`: texts for names that are no constants of the file. */
export function patternsIn(
  source: string,
  lang: Lang,
  standIns: Readonly<Record<string, string>> = {},
): SourcePattern[] {
  const program = parseAst(source, { lang })
  const constants = new Map<string, Tree>()
  const found: SourcePattern[] = []
  const lineOf = ({ start }: Tree) => source.slice(0, start).split('\n').length
  visit(program, (node) => {
    const { type, id, init } = node
    if (type === 'VariableDeclarator' && id?.name !== undefined && init)
      constants.set(id.name, init)
  })
  for (const [name, value] of Object.entries(standIns))
    constants.set(name, { type: 'Literal', start: 0, value })
  visit(program, (node) => {
    for (const one of [
      node.regex,
      ofSchema(node),
      ofCall(node, constants),
      ofTemplate(node, constants),
    ])
      if (one) found.push({ line: lineOf(node), ...one })
  })
  return found
}

type Pattern = Omit<SourcePattern, 'line'>
type Literal = { pattern: string; flags: string }
type Constants = ReadonlyMap<string, Tree>

/** AJV compiles it with this flag. */
function ofSchema({ key, value }: Tree): Pattern | undefined {
  const { value: pattern } = (value ?? {}) as Partial<Tree>
  return key?.name === 'pattern' && typeof pattern === 'string'
    ? { pattern, flags: 'u' }
    : undefined
}

function ofCall(
  { callee, arguments: [text, flags] = [] }: Tree,
  constants: Constants,
): Pattern | undefined {
  // In a function that makes patterns from its template, each use of it is a pattern.
  if (callee?.name !== 'RegExp' || text === undefined || isOfMaker(text)) return undefined
  return { pattern: textOf(text, constants), flags: flags ? String(flags.value) : '' }
}

function ofTemplate({ tag, quasi }: Tree, constants: Constants): Pattern | undefined {
  const { callee, arguments: [text] = [] } = constants.get(tag?.name ?? '')?.body ?? {}
  if (!quasi || callee?.name !== 'RegExp' || text === undefined || !isOfMaker(text))
    return undefined
  const inner = textOf(quasi, constants, 'raw')
  return { pattern: inner && `^${inner}$`, flags: '' }
}

/** `^${String.raw(...)}$` */
function isOfMaker(text: Tree): boolean {
  const [inner, another] = text.expressions ?? []
  return another === undefined && inner?.arguments?.[0]?.type === 'SpreadElement'
}

/** The text of an expression, or undefined if a part of it is no constant of the file. */
function textOf(
  node: Tree,
  constants: Constants,
  kind: 'raw' | 'cooked' = 'cooked',
): string | undefined {
  const {
    type,
    regex,
    name,
    value,
    object,
    property,
    callee,
    quasi,
    quasis = [],
    expressions = [],
  } = node
  if (regex) return regex.pattern
  if (type === 'Literal') return String(value)
  const constant = type === 'Identifier' ? constants.get(name ?? '') : undefined
  if (constant) return textOf(constant, constants)
  if (object && property?.name === 'source') return textOf(object, constants)
  // A text without special characters.
  if (callee?.property?.name === 'escape') return 'name'
  if (type === 'TaggedTemplateExpression' && quasi) return textOf(quasi, constants, 'raw')
  if (type !== 'TemplateLiteral') return undefined
  const pieces = quasis.map((piece) => (piece.value as Record<typeof kind, string>)[kind])
  const values = expressions.map((one) => textOf(one, constants))
  return values.includes(undefined) ? undefined : String.raw({ raw: pieces }, ...values)
}

function visit(node: unknown, act: (node: Tree) => void): void {
  if (typeof node !== 'object' || node === null) return
  if ('type' in node) act(node as Tree)
  for (const part of Object.values(node)) visit(part, act)
}
