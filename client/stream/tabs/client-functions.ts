// The functions of the client that the code of the tabs uses. That code is loaded on demand and gets them as an argument: if it
// imported them, bundlers would move them into one more file, which a page would have to load before everything else.
import type * as signIn from '../../sign-in.ts'
import type * as backoff from '../../transport/backoff.ts'
import type * as cancellation from '../../transport/cancellation.ts'
import type * as errors from '../../transport/errors.ts'
import type * as position from '../position.ts'
import type * as subscription from '../subscription.ts'

export type ClientFunctions = Pick<typeof signIn, 'requestMe'> &
  Pick<typeof backoff, 'delayAfter'> &
  Pick<typeof cancellation, 'following' | 'pause' | 'unlessAborted'> &
  Pick<typeof errors, 'CarillonError' | 'isCarillonError'> &
  Pick<typeof position, 'areOfOneInbox' | 'inboxTagOf' | 'versionOf'> &
  Pick<typeof subscription, 'isFinal' | 'openStream'>
