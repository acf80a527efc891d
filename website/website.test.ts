// The rules by which the pages of the repository become pages of the site. website.soak.test.ts builds it and opens it in a browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { apiPages } from './api.ts'
import { withLinks, withThemes } from './links.ts'
import { type Pages, pageOf, readPages, sidebarOf } from './pages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const repository = { root, address: 'https://git.example/carillon' }

function pagesOf(texts: Record<string, string>): Pages {
  return new Map(Object.entries(texts).map(([source, text]) => [source, pageOf(source, text)]))
}

const doors =
  '# Documents\n\n## Start\n\nFor a reader of [the words](words.md).\n\n- [first steps](first.md#curl) and [examples](../examples)\n\n## Use\n\n'

test('the sidebar has the links of each door in order, and below an overview the pages of its folder that it links to', () => {
  const pages = pagesOf({
    'docs/README.md': `${doors}- [The inbox](inbox.md): all of it\n`,
    'docs/first.md': '# First steps\n',
    'docs/inbox.md':
      '# The inbox\n\n[live](inbox/live.md), [lists](inbox/lists.md#filters), [first](first.md)\n',
    'docs/inbox/lists.md': '# Lists of `GET`\n',
    'docs/inbox/live.md': '# Live\n',
  })
  assert.deepEqual(
    sidebarOf(pages, (target) => `at ${target}`),
    [
      {
        text: 'Start',
        items: [
          { text: 'First steps', link: '/docs/first.html#curl' },
          { text: 'Examples', link: 'at examples' },
        ],
      },
      {
        text: 'Use',
        items: [
          {
            text: 'The inbox',
            link: '/docs/inbox.html',
            items: [
              { text: 'Live', link: '/docs/inbox/live.html' },
              { text: 'Lists of GET', link: '/docs/inbox/lists.html' },
            ],
            collapsed: true,
          },
        ],
      },
    ],
  )
})

test('a page that no door leads to is an error with its name', () => {
  const pages = pagesOf({
    'docs/README.md': doors,
    'docs/first.md': '# First',
    'docs/lost.md': '# Lost',
  })
  assert.throws(
    () => sidebarOf(pages, String),
    /^Error: In no door: docs\/lost\.md\. Link to each from docs\/README\.md/,
  )
})

test('every page of the repository is behind a door, and is built', () => {
  const pages = readPages(root)
  assert.ok(pages.size > 50)
  assert.equal(sidebarOf(pages, String).length, 4)
  const pictures = new Set<string>()
  for (const page of pages.values())
    withThemes(withLinks(page, pages, repository, pictures), page.path)
  assert.ok(pictures.size >= 2)
})

test('links lead to pages of the site or to the repository, and code is unchanged', () => {
  const code = '`[no](../SECURITY.md)`\n\n```md\n[no](../SECURITY.md)\n```\n'
  const page = pageOf(
    'docs/inbox.md',
    `[a](README.md#use) [\`b\`](../README.md) [c](../server/routes.ts) [d](#e) [f](https://a.example) [g](../server)\n${code}`,
  )
  const pages = new Map([
    ...pagesOf({ 'docs/README.md': '', 'README.md': '' }),
    [page.source, page],
  ])
  assert.equal(
    withLinks(page, pages, repository, new Set()),
    `[a](index.md#use) [\`b\`](../index.md) [c](https://git.example/carillon/blob/HEAD/server/routes.ts) [d](#e) [f](https://a.example) [g](https://git.example/carillon/tree/HEAD/server)\n${code}`,
  )
})

test('a link to a file that does not exist, and a picture that does not, are errors', () => {
  for (const text of ['[a](lost.md)', '![a](lost.png)'])
    assert.throws(
      () => withLinks(pageOf('docs/a.md', text), new Map(), repository, new Set()),
      /does not exist/,
    )
})

test('a picture for two themes becomes one for each state of the switch', () => {
  const page = pageOf(
    'README.md',
    '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="docs/images/bell-dark.png">\n  <img src="docs/images/bell-light.png" alt="A bell">\n</picture>',
  )
  const pictures = new Set<string>()
  assert.equal(
    withThemes(withLinks(page, new Map(), repository, pictures), page.path),
    '<img class="in-light" src="/docs/images/bell-light.png" alt="A bell" loading="lazy"><img class="in-dark" src="/docs/images/bell-dark.png" alt="A bell" loading="lazy">',
  )
  assert.deepEqual([...pictures], ['docs/images/bell-dark.png', 'docs/images/bell-light.png'])
})

test('the pages of the API have every route, and each shape that they name', () => {
  const pages = apiPages('0.1.0')
  const text = pages.map((page) => page.text).join('\n')
  for (const route of [
    'POST /login',
    'GET /routeRestreinte',
    'POST /api/notifications',
    'GET /openapi.json',
  ])
    assert.ok(text.includes(`\n## ${route}\n`), route)
  const named = new Set([...text.matchAll(/\]\(shapes\.md#(\w+)\)/g)].map(([, name]) => name))
  const shapes = [...(pages.at(-1)?.text ?? '').matchAll(/^## (\w+)$/gm)].map(([, name = '']) =>
    name.toLowerCase(),
  )
  assert.deepEqual(
    [...named].filter((name) => !shapes.includes(name ?? '')),
    [],
  )
})
