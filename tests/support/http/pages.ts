// The project's own pages, read for what they promise: commands with the answers shown below them, links, names of
// settings, routes. docs.test.ts holds them to it.
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** A fenced block. Behind `sh` stand the statuses that its requests are answered with: `sh 200 204`. */
export type Block = { language: string; notes: string[]; text: string; line: number }
export type Page = { file: string; text: string; blocks: Block[] }
/** Commands, and what is shown below them. */
export type Example = { line: number; commands: string; statuses: number[]; json?: string; text?: string }

/** Every page of the checkout, below `root`. */
export function readPages(root: string): Page[] {
  const files = globSync('**/*.md', { cwd: root, exclude: (name) => name === 'node_modules' || name === 'data' })
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

/** The commands of a page in their order. */
export function examplesOf({ blocks }: Page): Example[] {
  return blocks.flatMap(({ language, notes, text, line }, i) => {
    if (language !== 'sh') return []
    const shown = blocks[i + 1]
    const isShown = shown?.language === 'json' || shown?.language === 'text'
    return [{ line, commands: text, statuses: notes.map(Number), ...(isShown && { [shown.language]: shown.text }) }]
  })
}

/** npm installs, starts the service, tests: another test does that on a fresh clone. */
export function isForNpm({ commands }: Example): boolean {
  return commands.split('\n').every((line) => line === '' || line.startsWith('npm '))
}

/** What a page says outside its fenced blocks. */
export function proseOf({ text }: Page): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}

/** Links to other places of this checkout, as they are written. */
export function linksOf(page: Page): string[] {
  const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

/** The headings as GitHub turns them into anchors. */
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

/** Routes as `METHOD /path`, without a query. */
export function routesIn({ text }: Page): string[] {
  return [...text.matchAll(/\b(GET|HEAD|POST|PUT|PATCH|DELETE) (\/[\w/.:{}-]*)/g)].map(
    ([, method, path]) => `${method} ${path?.replace(/\.$/, '')}`,
  )
}
