// Arguments for the code of the tabs, which is loaded on demand. If it imported them, bundlers
// would add a file that a page has to load first.
import { delayAfter } from '../transport/backoff.ts'
import { following, pause, unlessAborted } from '../transport/cancellation.ts'
import { CarillonError, signedOut } from '../transport/errors.ts'
import { areOfOneInbox, inboxTagOf, versionOf } from './position.ts'
import { isFinal, openStream } from './subscription.ts'

export const clientFunctions = {
  areOfOneInbox,
  CarillonError,
  delayAfter,
  following,
  inboxTagOf,
  isFinal,
  openStream,
  pause,
  signedOut,
  unlessAborted,
  versionOf,
}
export type ClientFunctions = typeof clientFunctions
