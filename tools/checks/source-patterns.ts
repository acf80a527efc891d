// Finds the regular expressions of a source file: literals, and texts that are given to `RegExp`, if they consist of constants of the file.
import { parseAst } from 'rolldown/parseAst'

/** `pattern` is undefined if its text cannot be read. */
export type SourcePattern = { line: number; pattern: string | undefined; flags: string }

export type Lang = 'ts' | 'tsx' | 'js'
type Tree = { type: string; start: number } & Record<string, unknown>

/** `standIns`: texts for names that are no constants of the file. */
export function patternsIn(
  source: string,
  lang: Lang,
  standIns: Readonly<Record<string, string>> = {},
): SourcePattern[] {
  const program = parseAst(source, { lang }) as unknown as Tree
  const constants = new Map<string, Tree>()
  const found: SourcePattern[] = []
  const lineOf = ({ start }: Tree) => source.slice(0, start).split('\n').length
  visit(program, (node) => {
    const { id, init } = node as { id?: Tree; init?: Tree }
    if (node.type === 'VariableDeclarator' && id?.type === 'Identifier' && init) constants.set(String(id.name), init)
  })
  for (const [name, value] of Object.entries(standIns)) constants.set(name, { type: 'Literal', start: 0, value })
  visit(program, (node) => {
    const { regex, callee, tag, quasi } = node as { regex?: Literal; callee?: Tree; tag?: Tree; quasi?: Tree }
    if (regex) found.push({ line: lineOf(node), ...regex })
    if (callee?.name === 'RegExp') {
      // A function that makes patterns from its template: each use of it is a pattern.
      const [text, flags] = node.arguments as Tree[]
      const isMaker = source.slice(node.start).match(/^new RegExp\(`\^\$\{String\.raw\(\.\.\.\w+\)\}\$`\)/)
      if (text && !isMaker)
        found.push({ line: lineOf(node), pattern: textOf(text, constants), flags: flags ? String(flags.value) : '' })
    }
    if (tag?.type === 'Identifier' && quasi && makesPatterns(constants.get(String(tag.name))))
      found.push({ line: lineOf(node), pattern: `^${textOf(quasi, constants, 'raw')}$`, flags: '' })
  })
  return found
}

type Literal = { pattern: string; flags: string }

function makesPatterns(maker: Tree | undefined): boolean {
  const body = maker?.body as Tree | undefined
  return body?.type === 'NewExpression' && (body.callee as Tree).name === 'RegExp'
}

/** The text of an expression, or undefined if a part of it is no constant of the file. */
function textOf(
  node: Tree,
  constants: ReadonlyMap<string, Tree>,
  kind: 'raw' | 'cooked' = 'cooked',
): string | undefined {
  const { regex } = node as { regex?: Literal }
  if (regex) return regex.pattern
  if (node.type === 'Literal') return String(node.value)
  if (node.type === 'Identifier') {
    const constant = constants.get(String(node.name))
    return constant && textOf(constant, constants)
  }
  if (node.type === 'MemberExpression' && (node.property as Tree).name === 'source')
    return textOf(node.object as Tree, constants)
  // A text without special characters.
  if (node.type === 'CallExpression' && (node.callee as { property?: Tree }).property?.name === 'escape') return 'name'
  if (node.type === 'TaggedTemplateExpression') return textOf(node.quasi as Tree, constants, 'raw')
  if (node.type !== 'TemplateLiteral') return undefined
  const pieces = node.quasis as { value: Record<'raw' | 'cooked', string> }[]
  const values = (node.expressions as Tree[]).map((one) => textOf(one, constants))
  return values.includes(undefined) ? undefined : String.raw({ raw: pieces.map(({ value }) => value[kind]) }, ...values)
}

function visit(node: unknown, act: (node: Tree) => void): void {
  if (typeof node !== 'object' || node === null) return
  if ('type' in node) act(node as Tree)
  for (const part of Object.values(node)) visit(part, act)
}
