// What the settings say about links to set a password, mail and stolen passwords; for the service and for the commands.
import { isIP } from 'node:net'
import { messageOf } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import type { Config } from '../config/settings.ts'
import { isLoopback } from '../config/values.ts'
import type { LinkSettings } from '../links/links.ts'
import { mailer, renderUserMail, type UserMail } from '../mail/mail.ts'
import type { BreachOptions } from '../passwords/policy.ts'

const breachTimeoutMs = 2_000

/** `publicUrl`: where the service is reached, without a slash at its end. */
export function linkSettings(config: Config, publicUrl: () => string): LinkSettings {
  const { linkLifetimeMs, inviteLifetimeMs, resetPage, invitePage, pagesPrefix } = config
  const pages = { reset: resetPage, invite: invitePage }
  const lifetimes = { reset: linkLifetimeMs, invite: inviteLifetimeMs }
  return { lifetimes, pageOf: (purpose) => pages[purpose] ?? `${publicUrl()}${pagesPrefix}/${purpose}` }
}

/** What it returns sends one mail to one user. Undefined without a mail server. */
export function mailerOf(config: Config, publicUrl: () => string): ((mail: UserMail) => Promise<void>) | undefined {
  const { smtpUrl: server, mailFrom, insecureSmtp, pagesName } = config
  if (server === undefined) return undefined
  const needsTls = !insecureSmtp && !isLoopback(server.host)
  // The public URL is known only after the service listens.
  const sender = () => {
    const { name = '', address } = mailFrom ?? { address: addressAt(publicUrl()) }
    return { name: name || pagesName, address }
  }
  const send = mailer({ server, sender, needsTls })
  return async (mail) => send(await renderUserMail(pagesName, mail))
}

function addressAt(publicUrl: string): string {
  const { hostname } = new URL(publicUrl)
  return `carillon@${isIP(hostname) === 4 ? `[${hostname}]` : hostname}`
}

/** Undefined if the check is off. Without a log, a failure is not reported. */
export function breachesOf({ breachUrl: url }: Config, log?: Log): BreachOptions | undefined {
  if (url === 'off') return undefined
  const sentence = 'a new password was not compared with the lists of stolen ones'
  const onFailure = (error: unknown) => log?.warn({ event: 'breach-check-failed', reason: messageOf(error) }, sentence)
  return { url, timeoutMs: breachTimeoutMs, onFailure }
}
