// The error of a call during which the store failed. Only rolled-back calls can safely be repeated.
import { type CarillonError, unavailable } from '../basics/errors.ts'

/** The system refused (disk full, locked, out of connections); nothing was stored. */
export function takenBack(cause: unknown): CarillonError {
  return unavailable('The store cannot do this now', 'Try again in a moment.', cause)
}

/** The system failed during the commit: the call may have been stored. */
export function outcomeUnknown(cause: unknown): CarillonError {
  return unavailable('The store cannot do this now; the outcome is unknown', undefined, cause)
}

/** The writer thread or connection was lost without a response: the call may have been stored. */
export function wentAway(cause: unknown): CarillonError {
  return unavailable('The store went away; the outcome is unknown', undefined, cause)
}
