// What a caller is told when the store failed under its call: the same words and the same code on every engine. The words
// say whether the call was taken back or may have been kept, because a caller that does not know must not simply repeat it.
import { CarillonError } from '../errors.ts'

/** The system refused (disk full, locked, out of connections), and nothing of the call was kept. */
export function takenBack(cause: unknown): CarillonError {
  return new CarillonError('UNAVAILABLE', 'The store cannot do this now', {
    remedy: 'Try again in a moment.',
    cause,
  })
}

/** The system failed while it committed: the call may have been kept. */
export function outcomeUnknown(cause: unknown): CarillonError {
  return new CarillonError('UNAVAILABLE', 'The store cannot do this now; the outcome is unknown', { cause })
}

/** What would have answered is gone: the call may have been kept. */
export function wentAway(cause: unknown): CarillonError {
  return new CarillonError('UNAVAILABLE', 'The store went away; the outcome is unknown', { cause })
}
