// The pages to which a one-time link leads: /reset for a new password, /invite for a first one.
export type Texts = typeof texts

export const texts = () => ({
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
  welcome: (service: string) => `Welcome to ${service}`,
  signedIn: 'You are signed in. Next time, sign in with this password.',
  invalidTitle: 'This link does not work any more',
  invalid:
    'It was used before, is too old, or was replaced by a newer one. If you have set a password with it, sign in with that password.',
  missingTitle: 'This page needs the whole link',
  missing:
    'Open the link that you received again, or copy all of it into the address bar. It ends with # and 43 characters.',
})
