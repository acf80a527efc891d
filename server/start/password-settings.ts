// What the settings say about links to set a password and about stolen passwords; for the service and for the commands.
import type { Config } from '../config/settings.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log/log.ts'
import type { LinkSettings } from '../sign-in/links/links.ts'
import { Breaches } from '../sign-in/password/breaches.ts'

const breachTimeoutMs = 2_000

/** `publicUrl`: where the service is reached, without a slash at its end. */
export function linkSettings(config: Config, publicUrl: () => string): LinkSettings {
  const { linkLifetimeMs: lifetimeMs, resetPage, invitePage } = config
  const pages = { reset: resetPage, invite: invitePage }
  return { lifetimeMs, pageOf: (purpose) => pages[purpose] ?? `${publicUrl()}/${purpose}` }
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
