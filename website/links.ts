// Rewrites a page of the repository for the site: its links, and its pictures.
import { existsSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { type Page, type Pages, pageAt, targetOf } from './pages.ts'

export type Repository = {
  root: string
  /** Such as https://github.com/OWNER/carillon */
  address: string
}

/** The page of a file, or folder, at the address of the repository. Throws if it does not exist. */
export function urlIn({ root, address }: Repository, target: string): string {
  const path = posix.join(root, target)
  if (!existsSync(path)) throw new Error(`A page links to ${target}, which does not exist.`)
  return `${address}/${statSync(path).isDirectory() ? 'tree' : 'blob'}/HEAD/${target}`
}

/** Code, which stays as it is; the target of a link; an address in HTML. */
const parts =
  /^ *```[\s\S]*?^ *```$|`(?:(?!\n\n)[^`])+`|(?<link>(?<picture>!\[[^\]]*)?\]\()(?<target>[^)\s]+)\)|(?<attribute>\b(?:src|srcset|href)=")(?<url>[^"]+)"/gm

/**
 * The text with its links: those to other pages lead to their place in the site, those to other files to the repository. Pictures keep their
 * path in the repository; they are added to `pictures`.
 */
export function withLinks(
  page: Page,
  pages: Pages,
  repository: Repository,
  pictures: Set<string>,
): string {
  const here = posix.dirname(page.path)
  const rewritten = (link: string, isShown: boolean): string => {
    if (/^([a-z]+:|[#/])/.test(link)) return link
    const target = targetOf(page, link)
    const anchor = link.includes('#') ? link.slice(link.indexOf('#')) : ''
    if (isShown || /\.(apng|png|svg|webp)$/.test(target)) {
      if (!existsSync(posix.join(repository.root, target)))
        throw new Error(`${page.source} shows ${link}, which does not exist.`)
      pictures.add(target)
      return posix.relative(here, target)
    }
    const to = pageAt(pages, target)
    return to === undefined
      ? urlIn(repository, target) + anchor
      : posix.relative(here, to.path) + anchor
  }
  return page.text.replaceAll(parts, (...match) => {
    const { link, picture, target, attribute, url } = match.at(-1) as Record<
      string,
      string | undefined
    >
    if (target !== undefined) return `${link}${rewritten(target, picture !== undefined)})`
    if (url !== undefined) return `${attribute}${rewritten(url, attribute !== 'href="')}"`
    return match[0]
  })
}

const inBothThemes =
  /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img src="([^"]+)"([^>]*)>\s*<\/picture>/g

/**
 * For VitePress: pictures by their path in the site, and one for each theme, because the switch of the site does not change
 * `prefers-color-scheme`. The browser loads the one that is displayed.
 */
export function withThemes(text: string, path: string): string {
  const here = posix.dirname(path)
  const at = (picture: string) =>
    /^([a-z]+:|\/)/.test(picture) ? picture : posix.join('/', here, picture)
  const themed = text.replaceAll(
    inBothThemes,
    (_, dark: string, light: string, others: string) =>
      `<img class="in-light" src="${at(light)}"${others} loading="lazy"><img class="in-dark" src="${at(dark)}"${others} loading="lazy">`,
  )
  if (themed.includes('<picture>'))
    throw new Error(`${path} has a <picture> in another form than that of README.md.`)
  return themed.replaceAll(
    /(!\[[^\]]*\]\()([^)\s]+)\)/g,
    (_, begin: string, picture: string) => `${begin}${at(picture)})`,
  )
}
