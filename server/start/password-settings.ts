// What the settings say about links to set a password, mail and stolen passwords; for the service and for the commands.
import { isIP } from 'node:net'
import type { Config } from '../config/settings.ts'
import { isLoopback } from '../config/values.ts'
import { messageOf } from '../errors.ts'
import type { SignInLog } from '../http/routes/sign-in/sign-in-log.ts'
import type { Log } from '../log/log.ts'
import { Mailer } from '../outbound/mail.ts'
import { type ForgottenOptions, ForgottenPasswords } from '../sign-in/links/forgotten.ts'
import type { LinkSettings } from '../sign-in/links/links.ts'
import { Breaches } from '../sign-in/password/breaches.ts'

const breachTimeoutMs = 2_000

/** `publicUrl`: where the service is reached, without a slash at its end. */
export function linkSettings(config: Config, publicUrl: () => string): LinkSettings {
  const { linkLifetimeMs: lifetimeMs, resetPage, invitePage, pagesPrefix } = config
  const pages = { reset: resetPage, invite: invitePage }
  return { lifetimeMs, pageOf: (purpose) => pages[purpose] ?? `${publicUrl()}${pagesPrefix}/${purpose}` }
}

type Surroundings = Pick<ForgottenOptions, 'users' | 'guesses' | 'publicUrl' | 'log'> & {
  signInLog: Pick<SignInLog, 'refused'>
}

/** `forgotten` is undefined without a mail server. */
export function linksAndMails(config: Config, { signInLog, ...given }: Surroundings) {
  const links = linkSettings(config, given.publicUrl)
  const mailer = mailerOf(config, given.publicUrl)
  const onLimit: ForgottenOptions['onLimit'] = (source, account) =>
    signInLog.refused(source, account, { event: 'link-refused', code: 'TOO_MANY_REQUESTS' })
  const forgotten = mailer && new ForgottenPasswords({ ...given, links, onLimit, send: (mail) => mailer.send(mail) })
  return { links, forgotten }
}

function mailerOf(config: Config, publicUrl: () => string): Pick<Mailer, 'send'> | undefined {
  const { smtpUrl: server, mailFrom, insecureSmtp } = config
  if (server === undefined) return undefined
  const needsTls = !insecureSmtp && !isLoopback(server.host)
  let mailer: Mailer | undefined
  return {
    send(mail) {
      // The public URL is known only after the service listens.
      mailer ??= new Mailer({ server, sender: mailFrom ?? senderAt(publicUrl()), needsTls })
      return mailer.send(mail)
    },
  }
}

function senderAt(publicUrl: string): { name: string; address: string } {
  const { hostname } = new URL(publicUrl)
  return { name: 'Carillon', address: `carillon@${isIP(hostname) === 4 ? `[${hostname}]` : hostname}` }
}

/** Undefined if the check is off. Without a log, a failure is not reported. */
export function breachesOf({ breachUrl: url }: Config, log?: Log): Breaches | undefined {
  if (url === 'off') return undefined
  const onFailure = (error: unknown) =>
    log?.warn(
      { event: 'breach-check-failed', reason: messageOf(error) },
      'a new password was not compared with the lists of stolen ones',
    )
  return new Breaches({ url, timeoutMs: breachTimeoutMs, onFailure })
}
