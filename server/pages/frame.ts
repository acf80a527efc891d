// The frame of every page of the service: head, navigation, sign-out, and the place of the content. All addresses are relative, so that the
// pages work below any path.
import { type Html, html } from './html.ts'
import type { PageLanguage, SectionName, TextsOf } from './texts/texts.ts'

type PageName = 'inbox' | 'account' | 'demonstration' | 'docs' | 'sign-in'

/** What a page knows of its reader and its place. */
export type View = {
  language: PageLanguage
  texts: TextsOf<'service'>['frame']
  /** The texts of another section, in the same language. */
  textsOf: <Name extends SectionName>(name: Name) => Promise<TextsOf<Name>>
  name: string
  /** Relative prefixes: `${root}docs`, `${pages}account`. */
  root: string
  pages: string
  /** The signed-in user's display name or username, '' if the page names no user; undefined if no user is signed in. */
  user: string | undefined
  canSignOut: boolean
  hasDemonstration: boolean
  hasDocumentationLink: boolean
  /** Files of the page by their names without a hash. */
  file: (name: string) => string
  /** The scripts that these entries import, for the browser to request before it has read them. With scripting off, a browser would report each as refused. */
  preloads: (entries: readonly string[]) => readonly string[]
  hasTheme: boolean
  /** The address of the picture of the operator. */
  logo: string | undefined
}

export type Page = {
  title: string
  current?: PageName
  main: Html
  /** Entries such as `page-account.js`. */
  scripts?: readonly string[]
  styles?: readonly string[]
  needsScript?: true
  isWide?: true
}

export function documentOf(view: View, page: Page): string {
  const { language, name, file, preloads, texts } = view
  const { title, main, scripts = [], styles = [] } = page
  // The script is there as early as the style sheet, so that a page does not appear in one theme and change to the other.
  const icon = view.logo ?? file('favicon.svg')
  const { text } = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${name}</title>
<meta name="description" content="${texts.description(name)}">
<link rel="icon" href="${icon}">
${['page.css', ...styles].map((style) => html`<link rel="stylesheet" href="${file(style)}">\n`)}${
  view.hasTheme && html`<link rel="stylesheet" href="${view.root}carillon-theme.css">\n`
}<script type="module" async blocking="render" src="${file('every-page.js')}"></script>
${preloads(scripts).map((address) => html`<link rel="modulepreload" media="(scripting: enabled)" href="${address}">\n`)}${scripts.map((script) => html`<script type="module" src="${file(script)}"></script>\n`)}</head>
<body${page.isWide && html` class="wide"`}>
<a class="skip" href="#main">${texts.skipToContent}</a>
${header(view, page)}
<main id="main" tabindex="-1">
${page.needsScript && html`<noscript><p class="fault">${texts.needsScript}</p></noscript>\n`}${main}
</main>
</body>
</html>
`
  return text
}

function header(view: View, { current }: Page): Html {
  const { texts, root, pages, user, name, logo, file } = view
  const link = (page: PageName, text: string, prefix = pages) =>
    html`<li><a href="${prefix}${page}"${page === current && html` aria-current="page"`}>${text}</a></li>`
  return html`<header class="top">
<a class="brand" href="${root || './'}"><img src="${logo ?? file('favicon.svg')}" alt="" width="28" height="28">${name}</a>
<nav aria-label="${texts.navigation}"><ul>
${user !== undefined && [link('inbox', texts.inbox), link('account', texts.account)]}
${view.hasDemonstration && link('demonstration', texts.demonstration)}
${view.hasDocumentationLink && link('docs', texts.documentation, root)}
</ul></nav>
${
  view.canSignOut
    ? html`<form class="sign-out" method="post" action="${pages}sign-out">
${user && html`<span class="who"><span class="for-readers">${texts.signedInAs} </span>${user}</span>\n`}<button type="submit">${texts.signOut}</button>
</form>`
    : current !== 'sign-in' && html`<a class="button" href="${pages}sign-in">${texts.signIn}</a>`
}
</header>`
}
