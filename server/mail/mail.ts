// Sends e-mail through the SMTP server of the operator. nodemailer is loaded with the first mail: a start does not need it.
import type { Transporter } from 'nodemailer'
import type { readSmtpUrl } from '../config/values.ts'

export type Mail = { to: string; subject: string; text: string; html: string }

type MailerOptions = {
  server: ReturnType<typeof readSmtpUrl>
  sender: { name: string; address: string }
  /** False only for a server on this machine, or if the operator allowed it: others on the network can then read links. */
  needsTls: boolean
}

/** Much less than the 15 minutes that a link lives. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }

/** What it returns resolves when the server has accepted the mail. Its errors have neither the mail nor the password of the server. */
export function mailer({ server, sender, needsTls }: MailerOptions): (mail: Mail) => Promise<void> {
  let transporter: Promise<Transporter> | undefined
  return async ({ to, subject, text, html }) => {
    transporter ??= connect(server, needsTls)
    await (await transporter).sendMail({
      from: sender,
      // As objects: a text would be parsed, and could name other addresses, such as `a:eve@example.org`.
      to: { name: '', address: to },
      envelope: { from: sender.address, to: [{ name: '', address: to }] },
      subject,
      text,
      html,
      // RFC 3834: no answer of an absent person's program.
      headers: { 'auto-submitted': 'auto-generated' },
    })
  }
}

async function connect({ host, port, isTls, auth }: MailerOptions['server'], needsTls: boolean): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host,
    port,
    secure: isTls,
    requireTLS: needsTls && !isTls,
    tls: { rejectUnauthorized: needsTls },
    ...(auth && { auth }),
    ...timeouts,
    // A mail contains nothing but the texts above.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
