// Which Markdown files of the repository are pages of the site, and where the sidebar has them. docs/README.md is the only list: its doors and
// their links, in order. What else a page needs, links.ts, api.ts and write.ts do.
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** `source`: in the repository. `path`: in the site, `index.md` for a README. */
export type Page = { source: string; path: string; text: string }
export type Pages = ReadonlyMap<string, Page>
/** A line of the sidebar, in the form that VitePress takes. */
export type Item = { text: string; link?: string; items?: Item[]; collapsed?: boolean }

const overview = 'docs/README.md'
const sources = [
  '{README,SECURITY,CONTRIBUTING,ROADMAP,CHANGELOG}.md',
  'docs/**/*.md',
  '{client,element,bench}/**/*.md',
  'website/*.md',
]

export function readPages(root: string): Pages {
  const files = globSync(sources, {
    cwd: root,
    exclude: (name) => ['node_modules', 'data', 'dist'].includes(name),
  })
  return new Map(
    files
      .sort()
      .map((source) => [source, pageOf(source, readFileSync(posix.join(root, source), 'utf8'))]),
  )
}

/** The pages of website/ lie at the top of the site. */
export function pageOf(source: string, text: string): Page {
  const path = source.replace(/^website\//, '').replace(/(^|\/)README\.md$/, '$1index.md')
  return { source, path, text }
}

export function titleOf({ text, source }: Page): string {
  const title = /^# (.+)$/m.exec(text)?.[1]
  if (title === undefined) throw new Error(`${source} has no title. Begin it with "# ".`)
  return title.replaceAll('`', '')
}

export type Link = { text: string; target: string }

/** Links in Markdown to files of the repository, as written; of code there are none. */
export function linksIn(text: string): Link[] {
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
  return [...prose.matchAll(/\[((?:`[^`]*`|[^\]])+)\]\(([^)\s]+)\)/g)]
    .map(([, label = '', target = '']) => ({ text: label.replaceAll('`', ''), target }))
    .filter(({ target }) => !/^([a-z]+:|#)/.test(target))
}

/** The file, or folder, that a link of a page leads to. */
export function targetOf(page: Page, link: string): string {
  const [path = ''] = link.split('#')
  return path === '' ? page.source : posix.join(posix.dirname(page.source), path).replace(/\/$/, '')
}

/** A page, or the README of a folder that is a page. */
export function pageAt(pages: Pages, target: string): Page | undefined {
  return pages.get(target) ?? pages.get(posix.join(target, 'README.md'))
}

/** The doors of docs/README.md. Throws if a page of the repository is behind none. `urlOf`: of what is no page of the site. */
export function sidebarOf(pages: Pages, urlOf: (target: string) => string): Item[] {
  const start = pages.get(overview)
  if (start === undefined)
    throw new Error(`There is no ${overview}, from which the sidebar is made.`)
  const named = new Set(
    linksIn(listsIn(start.text)).map(
      ({ target }) => pageAt(pages, targetOf(start, target))?.source,
    ),
  )
  const placed = new Set([overview, 'README.md'])
  const doors = start.text.split(/^(?=## )/m).filter((part) => part.startsWith('## '))
  const items = doors.map((door) => {
    const links = linksIn(listsIn(door)).map(({ text, target }) => {
      const page = pageAt(pages, targetOf(start, target))
      const label = text.charAt(0).toUpperCase() + text.slice(1)
      if (page === undefined) return { text: label, link: urlOf(targetOf(start, target)) }
      const below = placed.has(page.source) ? [] : itemsBelow(page, { pages, named, placed })
      placed.add(page.source)
      return {
        text: label,
        link: linkTo(page, target),
        ...(below.length > 0 && { items: below, collapsed: true }),
      }
    })
    return { text: door.slice(3, door.indexOf('\n')), items: links }
  })
  const lost = [...pages.keys()].filter(
    (source) => !placed.has(source) && !source.startsWith('website/'),
  )
  if (lost.length > 0)
    throw new Error(
      `In no door: ${lost.join(', ')}. Link to each from ${overview}, or from the overview page beside the folder that it is in.`,
    )
  return items
}

/** Without the sentences around them, whose links explain. */
function listsIn(text: string): string {
  return text
    .split(/\n\n+/)
    .filter((block) => block.startsWith('- '))
    .join('\n')
}

type Doors = { pages: Pages; named: ReadonlySet<string | undefined>; placed: Set<string> }

/** The pages in the folder of an overview page, in the order in which it links to them, without those that have their own link in a door. */
function itemsBelow(page: Page, doors: Doors): Item[] {
  const folder = page.source.endsWith('/README.md')
    ? posix.dirname(page.source)
    : page.source.replace(/\.md$/, '')
  return linksIn(page.text).flatMap(({ target }) => {
    const below = pageAt(doors.pages, targetOf(page, target))
    if (below === undefined || doors.named.has(below.source) || doors.placed.has(below.source))
      return []
    if (!below.source.startsWith(`${folder}/`)) return []
    doors.placed.add(below.source)
    const items = itemsBelow(below, doors)
    return [
      {
        text: titleOf(below),
        link: linkTo(below),
        ...(items.length > 0 && { items, collapsed: true }),
      },
    ]
  })
}

function linkTo({ path }: Page, link = ''): string {
  const anchor = link.includes('#') ? link.slice(link.indexOf('#')) : ''
  return `/${path.replace(/index\.md$/, '').replace(/\.md$/, '.html')}${anchor}`
}
