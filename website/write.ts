// `npm run website`, first step: writes what VitePress builds the site from into website/dist. Its pages and its sidebar come from the Markdown files of
// the repository and from the route table. Beside each page the site has its Markdown, and `llms.txt` and `llms-full.txt` for programs that read.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { files as galleryFiles, scripts as galleryScripts } from '../element/gallery/serve.ts'
import { apiItem, apiPages } from './api.ts'
import { urlIn, withLinks, withThemes } from './links.ts'
import { type Item, type Pages, readPages, sidebarOf } from './pages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'website', 'dist')
/** What VitePress copies into the site as it is. */
const copied = join(out, 'pages', 'public')

const { version, description, repository } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
const base = `/${posix.basename(address)}/`
const own = { root, address }
const recordedPage = join(root, 'demonstration/dist/demonstration.html')

rmSync(out, { recursive: true, force: true })
const api = apiPages(version)
const pages: Pages = new Map([
  ...readPages(root),
  ...api.map((page) => [page.source, page] as const),
])
const repositoryPages = new Map([...pages].filter(([source]) => !source.startsWith('api/')))
const doors = sidebarOf(repositoryPages, (target) => urlIn(own, target))
const pictures = new Set<string>()
const texts = new Map(
  [...pages.values()].map((page) => [page.path, withLinks(page, pages, own, pictures)]),
)

for (const [path, text] of texts) {
  const source = withThemes(text, path)
  // Without headings there is no outline, and the page is as wide as both.
  const page = /^## /m.test(source) ? source : `---\naside: false\n---\n\n${source}`
  put(join(out, 'pages', path), path === 'index.md' ? frontPage(source, doors) : page)
  put(join(copied, path), text)
}
for (const picture of pictures) cpSync(join(root, picture), join(copied, picture))
cpSync(join(root, 'pages/look/favicon.svg'), join(copied, 'icon.svg'))
await writeGallery()
// `npm run demonstration:record` has made it.
if (existsSync(recordedPage)) cpSync(recordedPage, join(copied, 'demonstration/index.html'))
writeForPrograms()
const sidebar = [
  {
    text: 'Overview',
    items: [
      { text: 'All documents', link: '/docs/' },
      { text: 'See it', link: '/see.html' },
    ],
  },
  ...doors,
  apiItem(api),
]
put(join(out, 'site.json'), JSON.stringify({ description, address, base, sidebar }, null, 2))

function put(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

/** README.md with its title and first sentence as the head of the page, above one button for each door. */
function frontPage(text: string, all: readonly Item[]): string {
  const [, name, first, rest] = /^# (.+)\n\n([\s\S]+?)\n\n([\s\S]*)$/.exec(text) ?? []
  if (name === undefined || first === undefined)
    throw new Error('README.md begins with a title and a sentence.')
  const actions = all.map((door, at) => ({
    theme: at === 0 ? 'brand' : 'alt',
    text: door.text,
    link: door.items?.[0]?.link,
  }))
  const sentence = first.replaceAll('\n', ' ')
  const head = {
    layout: 'Front',
    sidebar: false,
    title: name,
    titleTemplate: sentence.replace(/\.$/, ''),
    hero: { name, tagline: sentence, actions },
  }
  return `---\n${JSON.stringify(head)}\n---\n\n${rest}`
}

/** The gallery of the elements, a static page: with `?theme=dark`, `?state=empty` and `?lang=de`. */
async function writeGallery(): Promise<void> {
  for (const [path, [, url]] of Object.entries(galleryFiles))
    put(join(copied, 'gallery', path === '/' ? 'index.html' : path), readFileSync(url))
  // Addresses in notifications begin with a slash. These are of the gallery.
  const place = `${base}gallery/`
  for (const [path, code] of await galleryScripts()) {
    const moved = code
      .replaceAll('/?state=', `${place}?state=`)
      .replaceAll('imageUrl:`/', `imageUrl:\`${place}`)
    put(join(copied, 'gallery', path), moved)
  }
}

/** llmstxt.org: a list of the pages, and all of them in one file. */
function writeForPrograms(): void {
  const line = ({ text, link = '', items = [] }: Item, indent: string): string => {
    const target = link.startsWith('/')
      ? link
          .slice(1)
          .replace(/\.html/, '.md')
          .replace(/\/(#|$)/, '/index.md$1')
      : link
    const about = firstLineOf(texts.get(target.replace(/#.*/, '')))
    return [
      `${indent}- [${text}](${target})${about}`,
      ...items.map((item) => line(item, `${indent}  `)),
    ].join('\n')
  }
  const sections = [...doors, apiItem(api)].map(
    ({ text, items = [] }) => `## ${text}\n\n${items.map((item) => line(item, '')).join('\n')}\n`,
  )
  put(join(copied, 'llms.txt'), `# Carillon\n\n> ${description}\n\n${sections.join('\n')}`)
  const full = [...texts].map(([path, text]) => `<!-- ${path} -->\n\n${text}`)
  put(join(copied, 'llms-full.txt'), full.join('\n'))
}

/** The sentence below the title, which says for whom a page is, as the note of a link. */
function firstLineOf(text = ''): string {
  const paragraph = /^# .+\n\n(\w[^\n]*(?:\n[^\n]+)*)/.exec(text)?.[1] ?? ''
  const [sentence = ''] = paragraph
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/(?<=[.:])\s/)
  return sentence.startsWith('Status') || sentence === ''
    ? ''
    : `: ${sentence.replace(/[.:]$/, '')}`
}
