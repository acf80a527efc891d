// Only the server displays or sends these texts.
import type { Plurals } from '../plurals.ts'

export type Texts = typeof texts
/** `title`: the first notice's. `lines`: titles and bodies. */
type Changes = { count: number; title: string; lines: readonly string[]; service: string }
/** `until` is a time in UTC. */
type Reset = { username: string; until: string; service: string }

export const texts = (plurals: Plurals) => ({
  frame: {
    /** Search engines and link previews display it. */
    description: (service: string) =>
      `${service}: sign in, read your notifications and manage your account.`,
    skipToContent: 'Skip to the content',
    navigation: 'Pages',
    inbox: 'Inbox',
    account: 'Account',
    operator: 'Operator',
    demonstration: 'Demonstration',
    documentation: 'Documentation',
    signIn: 'Sign in',
    signOut: 'Sign out',
    signedInAs: 'Signed in as',
    needsScript: 'This page needs JavaScript. Allow it in your browser, then load the page again.',
    unsupportedBrowser:
      'This page did not start. Load it again. If that does not help, your browser may be too old, or an extension may block it.',
    failureTitle: 'Something went wrong',
    notFoundTitle: 'Page not found',
    failures: {
      FORBIDDEN:
        'The form was sent from another site, so it was refused. Open this page again and send it from here.',
      NOT_FOUND: 'There is no page at this address. Check it for a typing error.',
      TOO_MANY_REQUESTS: 'There were too many attempts. Wait a moment, then try again.',
      UNAVAILABLE: 'The service is busy or stopping. Nothing is lost. Try again in a moment.',
      INVALID_REQUEST: 'The form was incomplete. Open this page again.',
      INTERNAL: 'The service failed. Try again later.',
      other: 'The service refused this. Open the page again.',
    },
    back: 'Back',
  },
  signIn: {
    title: 'Sign in',
    /** Stands below the title, if an application sent the user. */
    continueTo: (host: string) => `to continue to ${host}`,
    username: 'Username or e-mail address',
    /** Labels the field while no address signs in. */
    usernameAlone: 'Username',
    password: 'Password',
    showPassword: 'Show password',
    hidePassword: 'Hide password',
    continue: 'Continue',
    forgot: 'Forgot your password?',
    or: 'or',
    withPasskey: 'Sign in with a passkey',
    withProvider: (name: string) => `Sign in with ${name}`,
    failures: {
      INVALID_REQUEST: 'Enter your username and password.',
      passwordEnded:
        'This password was generated for you and no longer works. Ask the operator of this service for another one.',
      INVALID_CREDENTIALS: 'The username or the password is wrong. Check both, then try again.',
      UNAUTHORIZED:
        'This took longer than 5 minutes, or it was completed in another window. Enter your password again.',
      FORBIDDEN:
        'Someone else may know this password, so it does not work on new devices. Set a new one first.',
    },
    second: {
      title: 'Second step',
      intro: (username: string) =>
        `Your password is correct, ${username}. One more step to sign in.`,
      introWithoutName: 'One more step to sign in.',
      code: 'Code',
      codeHint: 'Six digits, from your authenticator app.',
      withPasskey: 'Use your passkey',
      passkeyNeedsScript:
        'Your passkey needs JavaScript and a browser that supports passkeys. A recovery code always works.',
      recovery: 'Use a recovery code',
      recoveryCode: 'Recovery code',
      recoveryHint:
        'One of the codes that you saved when you set up the second step. Each works once.',
      wrong:
        'This code is wrong, or it was used before. Wait for the next one, or use another recovery code.',
      empty: 'Enter a code.',
      startAgain: 'Start again',
    },
    /** Shown if the sign-in lacks what the service demands. # is a time. */
    setup: {
      title: 'One more step',
      any: {
        now: 'This service demands a second step besides your password. Set one up to go on. If you have one already, sign out, then sign in with it.',
        until:
          'From # on, you need a second step besides your password. Set it up now, or later on your account page.',
      },
      passkey: {
        now: 'This service demands a passkey. Add one to go on. If you have one already, sign out, then sign in with it.',
        until: 'From # on, you need a passkey. Add it now, or later on your account page.',
      },
      link: 'Others may know your password. So you first need a link that only you get.',
      send: 'Send me the link by e-mail',
      ask: 'Ask the operator of this service for it.',
      start: 'Set it up now',
      later: 'Later',
    },
    linkSent:
      'The link is on its way. It arrives within a few minutes; look in the spam folder too. Open it in this browser.',
    signedIn: {
      title: 'You are signed in',
      as: (name: string) => `As ${name}. If that is not you, sign out and use your own account.`,
      continueTo: (host: string) => `Continue to ${host}`,
    },
    signedOut: 'You are signed out.',
    erased: 'Your account is deleted.',
    cookiesBlocked:
      'Your browser blocks cookies for this site, and without a cookie it cannot stay signed in. Allow cookies, then load the page again.',
    stillSignedOut:
      'You signed in a moment ago, but your browser did not keep the cookie. Allow cookies for this site, then sign in again.',
    noResponse:
      'There was no response. What you typed is still here. Check your connection, then try again.',
    passkeyNotUsed: 'No passkey was used. Try again, or sign in in another way.',
    passkeyUnknown: 'This passkey does not belong to an account here. Sign in in another way.',
    passkeyFailed:
      'Signing in with the passkey failed. Try again in a moment, or sign in in another way.',
    forgotten: {
      intro:
        'We send a link to the e-mail address of your account. With it, you choose a new password.',
      submit: 'Send the link',
      empty: 'Enter your username or e-mail address.',
      sentTitle: 'Check your e-mail',
      sent: 'If this account exists and has an e-mail address, the link is on its way. It arrives within a few minutes; look in the spam folder too.',
      notSent: 'No e-mail? Ask the person who gave you your account.',
      noMail:
        'This service sends no e-mail. Ask the person who gave you your account for a link with which you choose a new password.',
      back: 'Back to sign-in',
    },
    provider: {
      title: (name: string) => `Signing in with ${name} failed`,
      INVALID_REQUEST:
        'It was not started in this browser, took longer than 10 minutes, or is already complete. Start again.',
      FORBIDDEN: (name: string) =>
        `It was cancelled or refused, or your account at ${name} does not belong to an active user here. Try again, or sign in in another way.`,
      CONFLICT: (name: string) =>
        `This account at ${name} belongs to another user here, or another one is already linked to you. Nothing was changed.`,
      UNAVAILABLE: (name: string) =>
        `${name} cannot be reached at the moment. Try again in a moment, or sign in in another way.`,
    },
  },
  demonstrationPage: {
    title: 'Session or token: watch both at work',
    lead: 'You sign in once. At your next click, how does the server know that it is still you? Try both answers.',
  },
  front: {
    welcome: (service: string) => `Welcome to ${service}`,
    welcomeText: 'Sign in to read your notifications and manage your account.',
    hello: (user: string) => `Hello, ${user}`,
    unread: plurals({
      one: 'You have # unread notification.',
      other: 'You have # unread notifications.',
    }),
    nothingUnread: 'You have read everything.',
    inboxText: 'Your notifications, as they arrive.',
    accountText: 'Your name, language, password, devices and ways to sign in.',
    demonstrationText: 'See how a session and a token differ: side by side, with real requests.',
    documentationText: 'Every route of the API, with examples to copy.',
    firstStartTitle: 'First time here?',
    firstStart:
      'Sign in with the username and password that the first start printed on the terminal, or wrote to this file in the data folder:',
    noUsersTitle: 'There is no user yet',
    noUsers: 'Add one on the command line, then sign in:',
  },
  operator: {
    needsFactor: {
      text: 'The service can be reached from other machines, so this page needs more than a password. Add a passkey or an authenticator app to your account first.',
      link: 'Add one',
    },
  },
  inbox: {
    generatedPassword: 'Your password was generated and works for seven days only.',
    ownPassword: 'Choose your own',
    category: 'Category',
    allCategories: 'All categories',
    settings: 'Notification settings',
  },
  /** The inbox page shows it while there is one user. */
  firstSteps: {
    title: 'First steps',
    signedIn: 'Signed in',
    test: 'Test notification arrived',
    send: 'Send me a notification',
    sent: 'Sent.',
    refused: 'Not sent. You can send ten an hour, as long as you are the only user.',
    bell: 'Bell in your page',
    address: 'Address of your page',
    lines: 'These two lines go into the page:',
    setting: 'And Carillon starts with this setting:',
    key: 'A key of your own, with which your application sends',
    notification: {
      title: 'It works',
      body: 'This notification arrived on its own: you did not have to reload the page.',
    },
  },
  docs: {
    intro: 'Every route of the API, its shapes and examples to copy.',
    filter: 'Filter the routes',
    noMatch: 'No route matches.',
    copy: 'Copy',
    copied: 'Copied',
    notCopied: 'Your browser blocked it',
  },
  /** /reset: a new password. /invite: a first one. */
  password: {
    reset: {
      title: 'Choose a new password',
      newLink: 'To get a new link, request it where you requested this one.',
    },
    invite: {
      title: 'Choose a password',
      newLink: 'To get a new link, ask the person who invited you.',
    },
    username: 'Your username:',
    mailedTo: 'This link was sent to:',
    submit: 'Set the password',
    progress: 'Setting the password…',
    doneTitle: 'Your password is set',
    done: 'Sign in with it here, or in your application.',
    doneElsewhere: 'Every other device that was signed in to your account is signed out.',
    signedIn: 'You are signed in. Next time, sign in with this password.',
    invalidTitle: 'This link is no longer valid',
    invalid:
      'It has been used, has expired, or was replaced by a newer one. If you set a password with it, sign in with that password.',
    missingTitle: 'The link is incomplete',
    missing:
      'Open the link from the e-mail again, or copy all of it into the address bar. It ends with # and 43 characters.',
    requestLink: 'Request a new link',
  },
  notices: {
    titles: {
      'password-changed': 'Your password was changed',
      'email-changed': 'Your e-mail address was changed',
      'username-changed': 'Your username was changed',
      'factor-added': 'An authenticator app was added to your account',
      'passkey-added': 'A passkey was added to your account',
      'factor-removed': 'A second factor or passkey was removed from your account',
      'factors-reset': 'All second factors and passkeys were removed from your account',
      'recovery-codes-created': 'New recovery codes were created for your account',
      'provider-linked': 'An account at another service was linked to yours',
      'provider-unlinked': 'An account at another service was unlinked from yours',
      'old-session-presented': 'Someone used an old copy of your sign-in',
      'user-signed-out': 'You were signed out everywhere',
      'user-disabled': 'Your account was disabled',
      'user-enabled': 'Your account was enabled again',
      'link-created': 'A link to set up your sign-in was made',
      'role-changed': 'Your role was changed',
      'mail-stopped': 'E-mails to your address have stopped',
      'webhook-disabled': 'A webhook was disabled',
      'mails-refused': 'The mail server refuses many addresses',
    },
    unknownDevice: 'an unknown device',
    aBrowser: 'a browser',
    /** Between browser and system. */
    on: 'on',
    newDevice: (device: string) => `New sign-in from ${device}`,
    newDeviceText: (device: string, address: string) =>
      `Someone signed in to your account with ${device}, from the address ${address}. If that was not you, open this and choose “That was not me”.`,
    byUser: (device: string, address: string) =>
      `This was done with ${device}, from the address ${address}.`,
    byOperator: 'This was done by the operator of the service.',
    byApplication: 'This was done by your application.',
    byUnknown: 'The service noticed this.',
    advice: 'If you did not expect it, check your account and set a new password.',
    ended: 'The device was signed out. Sign in again, check your account and set a new password.',
    webhookDisabled: (id: string, reason: string) =>
      `The webhook ${id} accepted no request for three days, and its events were removed. The last failure was: ${reason}. Repair the receiver, then send it a test event.`,
    mailsRefused:
      'It refused more than 20 addresses for good within an hour, so it may refuse this service. The lines “send-given-up” of the log have the reasons.',
    mailStopped:
      'The mail server of your address refused our e-mails on two days, so we send no more. Ask the operator of the service, or your application, to check your address. Notifications still arrive here.',
  },
  push: { arrived: plurals({ one: '# new notification', other: '# new notifications' }) },
  unsubscribe: {
    title: 'No more e-mails',
    question:
      'Do you want no more e-mails about notifications of this kind? They stay in your inbox.',
    questionAll: 'Do you want no more e-mails about notifications? They stay in your inbox.',
    submit: 'Turn these e-mails off',
    doneTitle: 'These e-mails are off',
    done: 'You get no more e-mails about notifications of this kind. They stay in your inbox.',
    doneAll: 'You get no more e-mails about notifications. They stay in your inbox.',
  },
  /** `before`, `after`: paragraphs around the link. */
  mails: {
    reset: ({ username, until, service }: Reset) => ({
      subject: `A new password at ${service}`,
      before: [
        `Someone requested a new password at ${service} for the account`,
        username,
        `To choose one, open this link. It works once, until ${until}:`,
      ],
      link: 'Choose a new password',
      after: ['If that was not you, ignore this e-mail: your password stays as it is.'],
    }),
    factor: ({ username, until, service }: Reset) => ({
      subject: `Set up your second step at ${service}`,
      before: [
        `Someone signed in at ${service} with the password of the account`,
        username,
        `and wants to set up a second step. Open this link in the same browser. It works once, until ${until}:`,
      ],
      link: 'Set up the second step',
      after: [
        'If that was not you, do not open it. Someone knows your password: choose a new one.',
      ],
    }),
    /** The subject of this mail quotes no sender. */
    unread: {
      subject: (count: number, service: string) =>
        `${plurals({ one: '# unread notification', other: '# unread notifications' })(count)} (${service})`,
      others: 'Other',
      more: (count: number) => `and ${count} more`,
      open: 'Open your inbox',
      settings: 'Choose when you get e-mails',
      unsubscribe: 'No more e-mails like this',
    },
    test: ({ service }: { service: string }) => ({
      subject: `It works: an e-mail from ${service}`,
      before: [
        `This e-mail was sent to try the mail server of ${service}. There is nothing to do.`,
      ],
      link: `Open ${service}`,
      after: [],
    }),
    changes: ({ count, title, lines, service }: Changes) => ({
      subject: `${count === 1 ? title : `${count} changes to your account`} (${service})`,
      before: lines,
      link: 'Open your account',
      after: [],
    }),
  },
})
