// VitePress builds website/dist/pages into website/.vitepress/dist. website/write.ts has written both the pages and site.json.
import { readFileSync } from 'node:fs'

const { description, address, base, sidebar } = JSON.parse(
  readFileSync(new URL('../dist/site.json', import.meta.url), 'utf8'),
)
/** The first page of each group is the link of the group in the header. */
const nav = sidebar.slice(1).map(({ text, items }) => ({ text, link: items[0].link }))

export default {
  title: 'Carillon',
  description,
  lang: 'en',
  base,
  srcDir: 'dist/pages',
  srcExclude: ['public/**'],
  cacheDir: 'dist/cache',
  head: [['link', { rel: 'icon', href: `${base}icon.svg` }]],
  // The index of the search is large, and loaded when a reader searches.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  markdown: {
    // GitHub has no {#id} after a heading either, and routes have braces.
    attrs: { disable: true },
    // The anchors of GitHub, so that one link works in both places.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
    },
    // Both have enough contrast for comments.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      // A table that is wider than the screen scrolls, by the keyboard too.
      md.renderer.rules.table_open = () => '<table tabindex="0">'
      // A corner of a table that says nothing is no header.
      md.core.ruler.push('empty-headers', ({ tokens }) => {
        tokens.forEach((token, at) => {
          const isEmpty = token.type === 'th_open' && tokens[at + 1]?.content === ''
          if (isEmpty) for (const cell of [token, tokens[at + 2]]) cell.tag = 'td'
        })
      })
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: false, next: false },
    socialLinks: [{ icon: 'github', link: address, ariaLabel: 'Repository' }],
  },
}
