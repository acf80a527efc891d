// Sends e-mail through the SMTP server of the operator. nodemailer is loaded with the first mail: a start does not need it.
import type { readSmtpUrl } from '../config/values.ts'

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
