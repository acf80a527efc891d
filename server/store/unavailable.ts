import { type CarillonError, unavailable } from '../basics/errors.ts'

export function takenBack(cause: unknown): CarillonError {
  return unavailable('The store cannot do this now', 'Try again in a moment.', cause)
}

export function outcomeUnknown(cause: unknown): CarillonError {
  return unavailable('The store cannot do this now; the outcome is unknown', undefined, cause)
}

export function wentAway(cause: unknown): CarillonError {
  return unavailable('The store went away; the outcome is unknown', undefined, cause)
}
