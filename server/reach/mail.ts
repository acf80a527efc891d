import type { readSmtpUrl } from '../config/values.ts'
import { html } from '../pages/html.ts'
import { languageFor, type TextsOf, textsOf } from '../pages/texts/texts.ts'

/** `id`: the outbox row's, so that repetitions share a Message-ID. `references`: without `<>`. */
export type Mail = {
  to: string
  subject: string
  text: string
  html: string
  id?: string
  references?: string | undefined
  attachments?: { cid: string; filename: string; contentType: string; content: Buffer }[]
  headers?: Readonly<Record<string, string>>
}

type MailerOptions = {
  server: ReturnType<typeof readSmtpUrl>
  sender: () => { name: string; address: string }
  /** False for a server on this machine, or if the operator lets others read links. */
  needsTls: boolean
}

/** Less than the 15 minutes of a link. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }
/** A mail costs 6 exchanges on a new connection, 2 on an open one. Servers limit connections. */
const connections = { pool: true, maxConnections: 4, idleTimeout: 500 } as const

/** Resolves when the server accepted the mail. Errors have neither the mail nor the password. */
export function mailer({ server, sender, needsTls }: MailerOptions): (mail: Mail) => Promise<void> {
  const { host, port, isTls, auth } = server
  // A mail has nothing but its texts.
  const closed = { disableFileAccess: true, disableUrlAccess: true }
  const tls = {
    secure: isTls,
    requireTLS: needsTls && !isTls,
    tls: { rejectUnauthorized: needsTls },
  }
  const open = async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport({
      host,
      port,
      ...tls,
      ...(auth && { auth }),
      ...timeouts,
      ...closed,
      ...connections,
    })
  }
  let transport: ReturnType<typeof open> | undefined
  return async ({ to, id, references, headers, ...content }) => {
    const from = sender()
    const [, domain = ''] = from.address.split('@')
    transport ??= open()
    const opened = await transport
    await opened.sendMail({
      ...content,
      from,
      // A text would be parsed, and could name other addresses, such as `a:eve@example.org`.
      to: { name: '', address: to },
      envelope: { from: from.address, to: [{ name: '', address: to }] },
      ...(id && { messageId: `<${id}@${domain}>` }),
      ...(references && { references: `<${references}@${domain}>` }),
      // RFC 3834: an absent person's program does not answer.
      headers: { ...headers, 'auto-submitted': 'auto-generated' },
    })
  }
}

type Texts = Omit<TextsOf<'service'>['mails'], 'unread'>
type Content<Kind extends keyof Texts> = {
  kind: Kind
  facts: Omit<Parameters<Texts[Kind]>[0], 'service'>
}

/** `acceptLanguage`: if the user's `locale` is not known. */
export type UserMail = {
  to: string
  locale: string | null
  acceptLanguage?: string | undefined
  url: string
} & {
  [Kind in keyof Texts]: Content<Kind>
}[keyof Texts]

export async function renderUserMail(service: string, mail: UserMail): Promise<Mail> {
  const { to, locale, acceptLanguage, url, kind, facts } = mail
  const language = languageFor(acceptLanguage, locale)
  const render = (await textsOf('service', language)).mails[kind] as (
    facts: object,
  ) => ReturnType<Texts[typeof kind]>
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

/** Longer lines would have to be encoded. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,72})(?: |$)/g, '$1\n').trimEnd()
}
