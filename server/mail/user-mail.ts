// A mail to a user: its texts in the user's language, named after the service, as plain text and as HTML. mail.ts sends it.
import { html } from '../pages/html.ts'
import { languageFor, type TextsOf, textsOf } from '../pages/texts/texts.ts'
import type { Mail } from './mail.ts'

type Texts = TextsOf<'service'>['mails']
type Content<Kind extends keyof Texts> = { kind: Kind; facts: Omit<Parameters<Texts[Kind]>[0], 'service'> }

/** `acceptLanguage`: the header field of the request that causes the mail, for a user whose `locale` is not known. */
export type UserMail = { to: string; locale: string | null; acceptLanguage?: string | undefined; url: string } & {
  [Kind in keyof Texts]: Content<Kind>
}[keyof Texts]

/** `service`: its name, as in `CARILLON_NAME`. */
export async function renderUserMail(service: string, mail: UserMail): Promise<Mail> {
  const { to, locale, acceptLanguage, url, kind, facts } = mail
  const language = languageFor(acceptLanguage, locale)
  const render = (await textsOf('service', language)).mails[kind] as (facts: object) => ReturnType<Texts[typeof kind]>
  const { subject, link, ...texts } = render({ ...facts, service })
  const [before, after] = [texts.before.map(wrapped), texts.after.map(wrapped)]
  const paragraphs = (lines: readonly string[]) => lines.map((text) => html`<p>${text}</p>\n`)
  const document = html`<!doctype html>
<html lang="${language}"><body>
${paragraphs(before)}<p><a href=
"${url}"
>${link}</a></p>
${paragraphs(after)}</body></html>
`
  return { to, subject, text: `${[...before, url, ...after].join('\n\n')}\n`, html: document.text }
}

/** Lines of at most 72 characters: longer ones would have to be encoded. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,72})(?: |$)/g, '$1\n').trimEnd()
}
