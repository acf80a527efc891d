// Mails to users: their texts in the user's language, as plain text and as HTML, and their way through the SMTP server of the operator.
import type { readSmtpUrl } from '../config/values.ts'
import { html } from '../pages/html.ts'
import { languageFor, type TextsOf, textsOf } from '../pages/texts/texts.ts'

export type Mail = { to: string; subject: string; text: string; html: string }

type MailerOptions = {
  server: ReturnType<typeof readSmtpUrl>
  sender: () => { name: string; address: string }
  /** False only for a server on this machine, or if the operator allowed it: others on the network can then read links. */
  needsTls: boolean
}

/** Much less than the 15 minutes that a link lives. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }

/** What it returns resolves when the server has accepted the mail. Its errors have neither the mail nor the password of the server. */
export function mailer({ server, sender, needsTls }: MailerOptions): (mail: Mail) => Promise<void> {
  const { host, port, isTls, auth } = server
  return async ({ to, ...content }) => {
    const { createTransport } = await import('nodemailer')
    const from = sender()
    // A mail contains nothing but its texts.
    const closed = { disableFileAccess: true, disableUrlAccess: true }
    const tls = { secure: isTls, requireTLS: needsTls && !isTls, tls: { rejectUnauthorized: needsTls } }
    await createTransport({ host, port, ...tls, ...(auth && { auth }), ...timeouts, ...closed }).sendMail({
      ...content,
      from,
      // As objects: a text would be parsed, and could name other addresses, such as `a:eve@example.org`.
      to: { name: '', address: to },
      envelope: { from: from.address, to: [{ name: '', address: to }] },
      // RFC 3834: no answer of an absent person's program.
      headers: { 'auto-submitted': 'auto-generated' },
    })
  }
}

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
  const before = texts.before.map(wrapped)
  const after = texts.after.map(wrapped)
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
