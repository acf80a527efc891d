import type { Clock } from '../basics/clock.ts'
import type { Log } from '../basics/log.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { Config } from '../config/settings.ts'
import type { Store } from '../store/store.ts'
import type { FactorPolicy } from '../tokens/factor-policy.ts'
import type { Mail } from './mail.ts'
import type { Picture } from './unread/unread-mail.ts'

export type ReachOptions = {
  store: Store
  config: Pick<
    Config,
    | 'pagesName'
    | 'pagesPrefix'
    | 'accent'
    | 'mailUnread'
    | 'mailContent'
    | 'pushDelayMs'
    | 'pushContent'
    | 'pushHosts'
    | 'securityContact'
  >
  sealing: Sealing
  policy: Pick<FactorPolicy, 'limitedFrom'>
  clock: Pick<Clock, 'now'>
  url: () => string
  random: () => number
  log: Log
  logo: Picture | undefined
  /** Undefined without a mail server. */
  send: ((mail: Mail) => Promise<void>) | undefined
}
