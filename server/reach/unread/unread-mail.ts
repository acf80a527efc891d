import { html } from '../../pages/html.ts'
import type { PageLanguage } from '../../pages/texts/texts.ts'
import type { Mail } from '../mail.ts'

export type Picture = { bytes: Buffer; type: string }

type Link = { title: string; url: string }
type Content = {
  language: PageLanguage
  serviceName: string
  accent: string | undefined
  picture: Picture | undefined
  title: string
  /** `links`: empty if mails have no titles. */
  sections: readonly { label: string; count: number; links: readonly Link[] }[]
  more: readonly string[]
  open: Link
  ends: readonly Link[]
}

const cid = 'logo@carillon'

export function renderUnreadMail(content: Content): Omit<Mail, 'to'> {
  const { title: subject, picture } = content
  const { type: contentType = '', bytes } = picture ?? {}
  const attachments = bytes && [{ cid, filename: 'logo.png', contentType, content: bytes }]
  const documents = { text: textOf(content), html: documentOf(content) }
  return { subject, ...documents, ...(attachments && { attachments }) }
}

function textOf({ title, sections, more, open, ends }: Content): string {
  const lines = sections.flatMap(({ label, count, links }) => [
    `${inLine(label)}: ${count}`,
    ...links.map((one) => `- ${inLine(one.title)}`),
    '',
  ])
  const last = ends.map((one) => `${one.title}: ${one.url}`)
  const paragraphs = more.flatMap((text) => [text, ''])
  return [title, '', ...lines, ...paragraphs, open.title, open.url, '', ...last, ''].join('\n')
}

/** The words of others cannot look like a link of the mail. */
function inLine(text: string): string {
  return text.replaceAll(/\s/g, ' ')
}

/** A program without style sheets shows the light colours of the attributes. */
const dark = `@media (prefers-color-scheme: dark) {
.page { background: #14141b !important; color: #ececf4 !important }
.card { background: #22222d !important }
.card li a { color: #a5b4fc !important }
.hint, .hint a { color: #a3a3b5 !important }
}`

function documentOf(content: Content): string {
  const { language, serviceName, accent = '#4f46e5', picture } = content
  const { title, sections, more, open, ends } = content
  const link = (one: Link, style = '') =>
    html`<a${style && html` style="${style}"`} href="${one.url}">${one.title}</a>`
  const list = (links: readonly Link[]) =>
    html`<ul style="margin:0;padding-left:20px">${links.map((one) => html`<li>${link(one)}</li>\n`)}</ul>\n`
  const button = `display:inline-block;padding:10px 18px;border-radius:8px;background:${accent};color:#ffffff;text-decoration:none`
  return html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title}</title>
<style>${dark}</style></head>
<body class="page" style="margin:0;padding:24px 12px;background:#f4f4f7;color:#1c1c28;font:16px/1.5 system-ui,sans-serif">
<div class="card" style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-radius:12px">
<p style="margin:0 0 12px">${
    picture !== undefined &&
    html`<img src="cid:${cid}" alt="" width="28" height="28" style="vertical-align:middle"> `
  }<strong>${serviceName}</strong></p>
<h1 style="font-size:20px;margin:0">${title}</h1>
${sections.map(
  ({
    label,
    count,
    links,
  }) => html`<h2 style="font-size:16px;margin:20px 0 4px">${label} (${count})</h2>
${links.length > 0 && list(links)}`,
)}${more.map((text) => html`<p>${text}</p>\n`)}
<p style="margin:24px 0 0">${link(open, button)}</p>
</div>
<p class="hint" style="max-width:600px;margin:16px auto 0;font-size:13px;color:#6b6b7b">${ends.map((one, n) => html`${n > 0 && ' · '}${link(one)}`)}</p>
</body></html>
`.text
}
