// The front door: the page at `/`, for a reader who is signed in or not.
import type { Plurals } from '../plurals.ts'

export type Texts = typeof texts

export const texts = (plurals: Plurals) => ({
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
})
