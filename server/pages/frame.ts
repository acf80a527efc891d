// The frame of every page. Relative addresses work below any path.
import { type Html, html } from './html.ts'
import type { PageLanguage, SectionName, TextsOf } from './texts/texts.ts'

type PageName = 'inbox' | 'account' | 'operator' | 'demonstration' | 'docs' | 'sign-in'

export type View = {
  language: PageLanguage
  texts: TextsOf<'service'>['frame']
  textsOf: <Name extends SectionName>(name: Name) => Promise<TextsOf<Name>>
  name: string
  /** Prefixes are relative: `${root}docs`, `${pages}account`. */
  root: string
  pages: string
  /** '' if the page names no user. */
  user: string | undefined
  canSignOut: boolean
  isOperator: boolean
  hasDemonstration: boolean
  hasDocumentationLink: boolean
  file: (name: string) => string
  /** Without scripting, browsers would report each as refused. */
  preloads: (entries: readonly string[]) => readonly string[]
  hasTheme: boolean
  logo: string | undefined
}

export type Page = {
  title: string
  current?: PageName
  main: Html
  scripts?: readonly string[]
  styles?: readonly string[]
  needsScript?: true
  isWide?: true
}

export function documentOf(view: View, page: Page): string {
  const { language, name, file, preloads, texts } = view
  const { title, main, scripts = [], styles = [] } = page
  // The icon must not change with the theme.
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
  const link = (page: PageName, text: string, { prefix = pages, isOwn = false } = {}) =>
    html`<li${isOwn && html` data-own`}><a href="${prefix}${page}"${page === current && html` aria-current="page"`}>${text}</a></li>`
  return html`<header class="top">
<a class="brand" href="${root || './'}"><img src="${logo ?? file('favicon.svg')}" alt="" width="28" height="28">${name}</a>
<nav aria-label="${texts.navigation}"><ul>
${user !== undefined && [link('inbox', texts.inbox, { isOwn: true }), link('account', texts.account, { isOwn: true })]}
${view.isOperator && link('operator', texts.operator, { isOwn: true })}
${view.hasDemonstration && link('demonstration', texts.demonstration)}
${view.hasDocumentationLink && link('docs', texts.documentation, { prefix: root })}
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
