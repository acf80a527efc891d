// The sign-in page with its second step, the page for a forgotten password, and what a failed sign-in with a provider says.
export type Texts = typeof texts

export const texts = () => ({
  title: 'Sign in',
  /** Below the title, if an application sent the user here. */
  continueTo: (host: string) => `to continue to ${host}`,
  username: 'Username or e-mail address',
  password: 'Password',
  show: 'Show',
  showPassword: 'Show password',
  hide: 'Hide',
  hidePassword: 'Hide password',
  submit: 'Sign in',
  forgot: 'Forgot your password?',
  or: 'or',
  withPasskey: 'Sign in with a passkey',
  withProvider: (name: string) => `Sign in with ${name}`,
  failures: {
    INVALID_REQUEST: 'Write your username and your password.',
    INVALID_CREDENTIALS: 'The username or the password is wrong. Check both, then try again.',
    UNAUTHORIZED: 'This took longer than 5 minutes, or it was completed in another window. Write your password again.',
    FORBIDDEN:
      'This password was reported as known to others, so it no longer works on a new device. Set a new one first.',
  },
  second: {
    title: 'Second step',
    intro: (username: string) => `The password is right. Now show that it is you, ${username}.`,
    introWithoutName: 'Now show that it is you.',
    code: 'Code',
    codeHint: 'Six digits, from your authenticator app.',
    submit: 'Continue',
    withPasskey: 'Use your passkey',
    passkeyNeedsScript:
      'Your passkey needs JavaScript and a browser that supports passkeys. A recovery code always works.',
    recovery: 'Use a recovery code',
    recoveryCode: 'Recovery code',
    recoveryHint: 'One of those that you saved when you set up the second step. Each of them works once.',
    wrong: 'This code is wrong, or it was used before. Wait for the next one, or use another recovery code.',
    empty: 'Write a code.',
    startAgain: 'Start again',
  },
  signedIn: {
    title: 'You are signed in',
    as: (name: string) => `As ${name}. If that is not you, sign out and use your own account.`,
    continue: 'Continue',
    continueTo: (host: string) => `Continue to ${host}`,
  },
  cookiesBlocked:
    'Your browser blocks cookies for this site, and without a cookie it cannot stay signed in. Allow cookies, then load the page again.',
  stillSignedOut:
    'You signed in a moment ago, but your browser did not keep the cookie. Allow cookies for this site, then sign in again.',
  noResponse: 'There was no response. What you wrote is still here. Check your connection, then try again.',
  passkeyNotUsed: 'No passkey was used. Try again, or sign in in another way.',
  passkeyUnknown: 'This passkey is not known here. Sign in in another way.',
  passkeyFailed: 'The sign-in with the passkey failed. Try again in a moment, or sign in in another way.',
  forgotten: {
    title: 'Forgot your password?',
    intro: 'We send a link with which you choose a new password. It goes to the e-mail address of your account.',
    label: 'Username or e-mail address',
    submit: 'Send the link',
    empty: 'Write your username or your e-mail address.',
    sentTitle: 'Check your mail',
    sent: 'If this account exists and has an e-mail address, the link is on its way. It arrives within a few minutes; look in the spam folder too.',
    notSent: 'No mail? Ask the people who gave you your account.',
    noMail:
      'This service sends no mail. Ask the people who gave you your account, or who run this service: they can make a link with which you choose a new password.',
    back: 'Back to sign-in',
  },
  provider: {
    title: (name: string) => `The sign-in with ${name} did not work`,
    INVALID_REQUEST:
      'It was not begun in this browser, it took longer than 10 minutes, or it was completed before. Begin again.',
    FORBIDDEN: (name: string) =>
      `It was cancelled or refused, or your account at ${name} does not belong to an active user here. Try again, or sign in in another way.`,
    CONFLICT: (name: string) =>
      `This account at ${name} belongs to another user here, or another one is already linked to you. Nothing was changed.`,
    UNAVAILABLE: (name: string) => `${name} cannot be reached now. Try again in a moment, or sign in in another way.`,
  },
})
