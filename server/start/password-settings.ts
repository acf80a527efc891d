import { isIP } from 'node:net'
import { countSending } from '../basics/counts.ts'
import { messageOf } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import type { Config } from '../config/settings.ts'
import { isLoopback } from '../config/values.ts'
import type { LinkSettings } from '../links/links.ts'
import type { BreachOptions, PasswordRules } from '../passwords/policy.ts'
import { type Mail, mailer } from '../reach/mail.ts'

const breachTimeoutMs = 2_000

export function linkSettings(config: Config, publicUrl: () => string): LinkSettings {
  const { linkLifetimeMs, inviteLifetimeMs, resetPage, invitePage, pagesPrefix } = config
  const lifetimes = { reset: linkLifetimeMs, invite: inviteLifetimeMs, factor: linkLifetimeMs }
  const ofService = (page: string) => `${publicUrl()}${pagesPrefix}/${page}`
  const pages = {
    reset: () => `${resetPage ?? ofService('reset')}#`,
    invite: () => `${invitePage ?? ofService('invite')}#`,
    factor: () => `${ofService('account')}#factor-`,
  }
  return { lifetimes, pageOf: (purpose) => pages[purpose]() }
}

export function mailerOf(
  config: Config,
  publicUrl: () => string,
): ((mail: Mail) => Promise<void>) | undefined {
  const { smtpUrl: server, mailFrom, insecureSmtp, pagesName } = config
  if (server === undefined) return undefined
  const needsTls = !insecureSmtp && !isLoopback(server.host)
  // When the service listens, the public URL is known.
  const sender = () => {
    const { name = '', address } = mailFrom ?? { address: addressAt(publicUrl()) }
    return { name: name || pagesName, address }
  }
  const send = mailer({ server, sender, needsTls })
  return (mail) => countSending('mail', send(mail))
}

function addressAt(publicUrl: string): string {
  const { hostname } = new URL(publicUrl)
  return `carillon@${isIP(hostname) === 4 ? `[${hostname}]` : hostname}`
}

export function passwordRulesOf(config: Config, log?: Log): PasswordRules {
  const { passwordMin: passwordMinLength, pagesName: serviceName } = config
  return { passwordMinLength, serviceName, breaches: breachesOf(config, log) }
}

function breachesOf({ breachUrl: url }: Config, log?: Log): BreachOptions | undefined {
  if (url === 'off') return undefined
  const sentence = 'a new password was not compared with the lists of stolen ones'
  const onFailure = (error: unknown) =>
    log?.warn({ event: 'breach-check-failed', reason: messageOf(error) }, sentence)
  return { url, timeoutMs: breachTimeoutMs, onFailure }
}
