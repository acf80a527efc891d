import { type Html, html } from '../pages/html.ts'
import type { PageLanguage, TextsOf } from '../pages/texts/texts.ts'
import type { Mail } from './mail.ts'

/** `items`: empty if mails have no titles. */
export type Group = { label: string | null; count: number; items: { id: string; title: string }[] }
export type Picture = { bytes: Buffer; type: string }

type Content = {
  language: PageLanguage
  texts: TextsOf<'service'>['mails']['unread']
  groups: readonly Group[]
  count: number
  serviceName: string
  accent: string | undefined
  logo: Picture | undefined
  /** The notification, if there is only one. */
  itemId: string | undefined
  inboxUrl: string
  settingsUrl: string
  unsubscribeUrl: string
}

const maxTitles = 10
const logoId = 'logo@carillon'

export function renderUnreadMail(content: Content): Omit<Mail, 'to'> {
  const { texts, count, serviceName, unsubscribeUrl } = content
  const listed = withinLimit(content.groups)
  return {
    subject: texts.subject(count, serviceName),
    text: textOf(content, listed),
    html: documentOf(content, listed).text,
    ...(isShown(content.logo) && {
      attachments: [
        {
          cid: logoId,
          filename: 'logo.png',
          contentType: content.logo.type,
          content: content.logo.bytes,
        },
      ],
    }),
    ...(unsubscribeUrl !== '' && {
      // RFC 8058: a mail program sends the POST without a page.
      headers: {
        'list-unsubscribe': `<${unsubscribeUrl}>`,
        'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      },
    }),
  }
}

/** Many mail programs show no SVG. */
function isShown(logo: Picture | undefined): logo is Picture {
  return logo?.type === 'image/png'
}

/** The fragment stays in the browser, and a program that follows the link marks nothing as read. */
function linkTo(inboxUrl: string, id: string): string {
  return `${inboxUrl}#${id}`
}

type Listed = { groups: Group[]; more: number }

function withinLimit(groups: readonly Group[]): Listed {
  let room = maxTitles
  let more = 0
  const shown = groups.map((group) => {
    const items = group.items.slice(0, room)
    room -= items.length
    more += group.items.length - items.length
    return { ...group, items }
  })
  return { groups: shown, more }
}

function textOf(
  { texts, count, serviceName, itemId, inboxUrl, settingsUrl, unsubscribeUrl }: Content,
  { groups, more }: Listed,
) {
  const lines = groups.flatMap(({ label, count: ofGroup, items }) => [
    `${label ?? texts.others}: ${ofGroup}`,
    ...items.map(({ title }) => `- ${title}`),
    '',
  ])
  if (more > 0) lines.push(texts.more(more), '')
  const link = itemId === undefined ? inboxUrl : linkTo(inboxUrl, itemId)
  const ends = [texts.open, link, '', `${texts.settings}: ${settingsUrl}`]
  if (unsubscribeUrl !== '') ends.push(`${texts.unsubscribe}: ${unsubscribeUrl}`)
  return [texts.subject(count, serviceName), '', ...lines, ...ends, ''].join('\n')
}

const usualAccent = '#4f46e5'

const styles = new Map([
  [
    'page',
    'margin:0;padding:24px 12px;background:#f4f4f7;color:#1c1c28;font:16px/1.5 system-ui,sans-serif',
  ],
  ['card', 'max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-radius:12px'],
  ['hint', 'max-width:600px;margin:16px auto 0;font-size:13px;color:#6b6b7b'],
])
/** A program without style sheets shows the light colours of the attributes. */
const dark = `@media (prefers-color-scheme: dark) {
.page { background: #14141b !important; color: #ececf4 !important }
.card { background: #22222d !important }
.card li a { color: #a5b4fc !important }
.hint, .hint a { color: #a3a3b5 !important }
}`

function documentOf(content: Content, { groups, more }: Listed): Html {
  const {
    language,
    texts,
    count,
    serviceName,
    logo,
    itemId,
    inboxUrl,
    settingsUrl,
    unsubscribeUrl,
  } = content
  const { accent = usualAccent } = content
  const title = texts.subject(count, serviceName)
  const button = `display:inline-block;padding:10px 18px;border-radius:8px;background:${accent};color:#ffffff;text-decoration:none`
  const picture =
    isShown(logo) &&
    html`<img src="cid:${logoId}" alt="" width="28" height="28" style="vertical-align:middle"> `
  const section = ({
    label,
    count: ofGroup,
    items,
  }: Group) => html`<h2 style="font-size:16px;margin:20px 0 4px">${label ?? texts.others} (${ofGroup})</h2>
${
  items.length > 0 &&
  html`<ul style="margin:0;padding-left:20px">${items.map(
    (one) => html`<li><a href="${linkTo(inboxUrl, one.id)}">${one.title}</a></li>\n`,
  )}</ul>\n`
}`
  return html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title}</title>
<style>${dark}</style></head>
<body class="page" style="${styles.get('page')}">
<div class="card" style="${styles.get('card')}">
<p style="margin:0 0 12px">${picture}<strong>${serviceName}</strong></p>
<h1 style="font-size:20px;margin:0">${title}</h1>
${groups.map(section)}${more > 0 && html`<p>${texts.more(more)}</p>\n`}
<p style="margin:24px 0 0"><a style="${button}" href="${itemId === undefined ? inboxUrl : linkTo(inboxUrl, itemId)}">${texts.open}</a></p>
</div>
<p class="hint" style="${styles.get('hint')}"><a href="${settingsUrl}">${texts.settings}</a>${
    unsubscribeUrl !== '' && html` · <a href="${unsubscribeUrl}">${texts.unsubscribe}</a>`
  }</p>
</body></html>
`
}
