// What every page of the service has: navigation, sign-out, and the sentences for failures.
export type Texts = typeof texts

export const texts = () => ({
  /** For search engines and link previews. */
  description: (service: string) => `${service}: sign in, read your notifications and look after your account.`,
  skipToContent: 'Skip to the content',
  navigation: 'Pages',
  inbox: 'Inbox',
  account: 'Account',
  demonstration: 'Demonstration',
  documentation: 'Documentation',
  signIn: 'Sign in',
  signOut: 'Sign out',
  /** Precedes the name of the user. */
  signedInAs: 'Signed in as',
  needsScript: 'This page needs JavaScript. Allow it in your browser, then load the page again.',
  unsupportedBrowser:
    'This page did not start. Load it again. If that does not help, your browser may be too old, or an extension may block it.',
  failureTitle: 'This did not work',
  failures: {
    FORBIDDEN: 'The form was sent from another site, so it was refused. Open this page again and send it from here.',
    NOT_FOUND: 'There is no such page.',
    TOO_MANY_REQUESTS: 'There were too many attempts. Wait a moment, then try again.',
    UNAVAILABLE: 'The service is busy or stopping. Nothing is lost. Try again in a moment.',
    INVALID_REQUEST: 'The service did not understand the form. Open this page again.',
    INTERNAL: 'The service failed. Try again later.',
    other: 'The service refused this. Open the page again.',
  },
  /** The link of a failure page. */
  back: 'Back',
})
