// The texts that the server alone displays or sends: some pages, the notices and the mails.
import type { Plurals } from '../plurals.ts'

export type Texts = typeof texts
/** `count`: how many changes of the account. `title`: that of the first notice. `lines`: the titles and bodies of the notices in the inbox. */
type Changes = { count: number; title: string; lines: readonly string[]; service: string }
/** `until`: a time in UTC. `service`: the name of the service. */
type Reset = { username: string; until: string; service: string }

export const texts = (plurals: Plurals) => ({
  /** The front door: the page at `/`, for a reader who is signed in or not. */
  front: {
    welcome: (service: string) => `Welcome to ${service}`,
    welcomeText: 'Sign in to read your notifications and to look after your account.',
    hello: (user: string) => `Hello, ${user}`,
    unread: plurals({ one: 'You have # unread notification.', other: 'You have # unread notifications.' }),
    nothingUnread: 'You have read everything.',
    /** What each page is for. */
    inboxText: 'Your notifications, as they arrive.',
    accountText: 'Your name, language, password, devices and second factors.',
    demonstrationText: 'See how a session and a token differ: side by side, with real requests.',
    documentationText: 'Every route of the API, with examples to copy.',
    firstStartTitle: 'First time here?',
    firstStart: (username: string) =>
      `Sign in as ${username}. The first start printed the password on the terminal, or wrote it to this file in the data folder:`,
    noUsersTitle: 'There is no user yet',
    noUsers: 'Add one on the command line, then sign in:',
  },
  /** The inbox page, around the element with the list. */
  inbox: {
    title: 'Inbox',
    category: 'Category',
    allCategories: 'All categories',
    settings: 'Settings',
  },
  /** The page of the API's description, at `/docs`. The description itself is in English only. */
  docs: {
    intro: 'Every route of the API, its shapes and examples to copy.',
    filter: 'Filter the routes',
    noMatch: 'No route matches.',
    copy: 'Copy',
    copied: 'Copied',
    notCopied: 'The browser does not allow it',
  },
  /** The pages to which a one-time link leads: /reset for a new password, /invite for a first one. */
  password: {
    reset: {
      title: 'Choose a new password',
      label: 'New password',
      newLink: 'To get a new link, request one again where you requested this one.',
    },
    invite: {
      title: 'Choose a password',
      label: 'Password',
      newLink: 'To get a new link, write to the people who invited you.',
    },
    username: 'Your username:',
    show: 'Show password',
    hide: 'Hide password',
    submit: 'Set the password',
    progress: 'Setting the password…',
    doneTitle: 'Your password is set',
    done: 'Sign in with it here, or in your application.',
    doneElsewhere: 'Every other device that was signed in to your account is signed out.',
    signedIn: 'You are signed in. Next time, sign in with this password.',
    invalidTitle: 'This link does not work any more',
    invalid:
      'It was used before, is too old, or was replaced by a newer one. If you have set a password with it, sign in with that password.',
    missingTitle: 'This page needs the whole link',
    missing:
      'Open the link that you received again, or copy all of it into the address bar. It ends with # and 43 characters.',
  },
  /** The notices about changes of an account, in the inbox and in mails. */
  notices: {
    titles: {
      'password-changed': 'Your password was changed',
      'email-changed': 'Your e-mail address was changed',
      'username-changed': 'Your username was changed',
      'factor-added': 'An authenticator app was added to your account',
      'passkey-added': 'A passkey was added to your account',
      'factor-removed': 'A second factor or passkey was removed from your account',
      'factors-reset': 'All second factors and passkeys were removed from your account',
      'recovery-codes-created': 'New recovery codes were made for your account',
      'provider-linked': 'An account at another service was linked to yours',
      'provider-unlinked': 'An account at another service was unlinked from yours',
      'old-session-presented': 'Someone presented an old copy of your sign-in',
    },
    unknownDevice: 'an unknown device',
    byUser: (device: string, address: string, time: string) =>
      `This was done with ${device}, from the address ${address}, on ${time}.`,
    byOperator: (time: string) => `This was done by the operator of the service, on ${time}.`,
    byApplication: (time: string) => `This was done by your application, on ${time}.`,
    byUnknown: (time: string) => `This happened on ${time}.`,
    advice: 'If you did not expect it, check your account and set a new password.',
    ended: 'That sign-in was ended. Sign in again, check your account and set a new password.',
  },
  /** The mails to users, as plain text. `before` and `after`: the paragraphs around the link; `link`: its text in the HTML part. */
  mails: {
    reset: ({ username, until, service }: Reset) => ({
      subject: `A new password at ${service}`,
      before: [
        `Someone requested a new password at ${service} for the account`,
        username,
        `To choose one, open this link. It works once, until ${until}:`,
      ],
      link: 'Choose a new password',
      after: ['If that was not you, ignore this mail: your password stays as it is.'],
    }),
    changes: ({ count, title, lines, service }: Changes) => ({
      subject: `${count === 1 ? title : `${count} changes to your account`} (${service})`,
      before: lines,
      link: 'Open your account',
      after: [],
    }),
  },
})
