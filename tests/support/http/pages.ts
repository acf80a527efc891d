// Reads the documentation: commands with their printed responses, links, names of settings, routes.
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** A fenced block. `sh 200 204` names the statuses of the responses to its requests. */
export type Block = { language: string; notes: string[]; text: string; line: number }
export type Page = { file: string; text: string; blocks: Block[] }
export type Example = {
  line: number
  commands: string
  statuses: number[]
  json?: string
  text?: string
}

export function readPages(root: string): Page[] {
  const files = globSync('**/*.md', {
    cwd: root,
    exclude: (name) => ['node_modules', 'data', 'dist'].includes(name),
  })
  return files.sort().map((file) => {
    const text = readFileSync(posix.join(root, file), 'utf8')
    return { file, text, blocks: blocksOf(text) }
  })
}

function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w*)(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', notes = '', text = ''], i, all) => ({
      language,
      notes: notes.split(' ').filter((note) => note !== ''),
      text,
      line: page.slice(0, all[i]?.index).split('\n').length,
    }),
  )
}

export function examplesOf({ blocks }: Page): Example[] {
  return blocks.flatMap(({ language, notes, text, line }, i) => {
    if (language !== 'sh') return []
    const output = blocks[i + 1]
    const hasOutput = output?.language === 'json' || output?.language === 'text'
    return [
      {
        line,
        commands: text,
        statuses: notes.map(Number),
        ...(hasOutput && { [output.language]: output.text }),
      },
    ]
  })
}

/** .ci/run runs the commands of npm on a fresh clone. */
export function isForNpm({ commands }: Example): boolean {
  return commands.split('\n').every((line) => line === '' || line.startsWith('npm '))
}

function proseOf({ text }: Page): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}

/** Links to files of this checkout, as written. */
export function linksOf(page: Page): string[] {
  const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

/** GitHub makes anchors of this form. */
export function anchorsOf(page: Page): string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

export function settingsIn({ text }: Page): string[] {
  return [...text.matchAll(/\bCARILLON_[A-Z][A-Z_]*/g)].map(([name]) => name)
}

/** `METHOD /path` is the form of each, without a query. */
export function routesIn({ text }: Page): string[] {
  return [...text.matchAll(/\b(GET|HEAD|POST|PUT|PATCH|DELETE) (\/[\w/.:{}-]*)/g)].map(
    ([, method, path]) => `${method} ${path?.replace(/\.$/, '')}`,
  )
}
