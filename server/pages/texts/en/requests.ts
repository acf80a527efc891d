import type { Plurals } from '../plurals.ts'

export type Texts = typeof texts

export const texts = (plurals: Plurals) => ({
  failures: {
    NETWORK:
      'There was no response. Check your connection, then try again. What you typed is still here.',
    UNREADABLE: 'The response did not come from this service. Try again later.',
    UNAUTHORIZED: 'You are signed out.',
    INVALID_CREDENTIALS: 'This is not correct. Check it, then try again.',
    SECOND_FACTOR_REQUIRED:
      'This needs your second factor, which this browser cannot use. Use another browser or device.',
    FORBIDDEN: 'The service refused this. Load the page again and try again.',
    FACTOR_UNREADABLE:
      'This service can no longer check the codes of your authenticator app. Use a passkey or a recovery code, or ask the people who run this service to remove the app from your account.',
    NOT_FOUND: 'This no longer exists. Load the page again.',
    CONFLICT: 'This was changed elsewhere at the same time. Load the page again.',
    PAYLOAD_TOO_LARGE: 'This is too long.',
    TOO_MANY_REQUESTS: 'There were too many attempts.',
    UNAVAILABLE: 'The service is busy.',
    other: 'The service failed. Try again later.',
  },
  /** Follows the sentences of TOO_MANY_REQUESTS and UNAVAILABLE. */
  soon: 'Try again in a moment.',
  inSeconds: plurals({ one: 'Try again in # second.', other: 'Try again in # seconds.' }),
  inMinutes: plurals({ one: 'Try again in # minute.', other: 'Try again in # minutes.' }),
  tryAgain: 'Try again',
  signInAgain: 'Sign in again',
  passwordFaults: {
    too_short: (minLength: number) => `Enter at least ${minLength} characters.`,
    too_long: 'Enter at most 256 characters.',
    too_common: 'Choose another one: many people use this password, so it is easy to guess.',
    contains_name:
      'Choose another one: this is little more than your username or the name of this service.',
    unusable: 'Enter it without line breaks or other invisible characters.',
  },
})
