// The functions of the client that the code of the tabs uses. That code is loaded on demand and gets them as an argument: if it
// imported them, bundlers would move them into one more file, which a page would have to load before everything else.
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
