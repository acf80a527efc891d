// The functions of the client that the code of the tabs uses. It is loaded on demand and gets them as an argument: if it imported
// them, bundlers would move them into one more file, which a page would have to load before everything else.
import type { requestMe as RequestMe } from '../../sign-in.ts'
import type { delayAfter as DelayAfter } from '../../transport/backoff.ts'
import type {
  following as Following,
  pause as Pause,
  unlessAborted as UnlessAborted,
} from '../../transport/cancellation.ts'
import type { CarillonError, isCarillonError as IsCarillonError } from '../../transport/errors.ts'
import type { areOfOneInbox as AreOfOneInbox, inboxTagOf as InboxTagOf, versionOf as VersionOf } from '../position.ts'
import type { isFinal as IsFinal, openStream as OpenStream } from '../subscription.ts'

/** A list and not an object with names, because a page loads it with every client. */
export type Given = readonly [
  areOfOneInbox: typeof AreOfOneInbox,
  delayAfter: typeof DelayAfter,
  errorOf: (...values: ConstructorParameters<typeof CarillonError>) => CarillonError,
  following: typeof Following,
  inboxTagOf: typeof InboxTagOf,
  isCarillonError: typeof IsCarillonError,
  isFinal: typeof IsFinal,
  openStream: typeof OpenStream,
  pause: typeof Pause,
  requestMe: typeof RequestMe,
  unlessAborted: typeof UnlessAborted,
  versionOf: typeof VersionOf,
]

export let areOfOneInbox: Given[0]
export let delayAfter: Given[1]
export let errorOf: Given[2]
export let following: Given[3]
export let inboxTagOf: Given[4]
export let isCarillonError: Given[5]
export let isFinal: Given[6]
export let openStream: Given[7]
export let pause: Given[8]
export let requestMe: Given[9]
export let unlessAborted: Given[10]
export let versionOf: Given[11]

export function give(given: Given): void {
  ;[areOfOneInbox, delayAfter, errorOf, following, inboxTagOf, isCarillonError] = given
  ;[, , , , , , isFinal, openStream, pause, requestMe, unlessAborted, versionOf] = given
}
