// The texts of both elements, in English. A page can replace each by the property `strings`.

/** Plural forms (Unicode CLDR): `other` is for all that are not here. `#` is the number. */
export type Forms = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string }
export type Plurals = (
  forms: Forms,
  format?: (count: number) => string,
) => (count: number) => string

export const texts = (plurals: Plurals, badge: (count: number) => string) => ({
  /** Also the name of the panel, of the feed and of a bell without unread notifications. */
  title: 'Notifications',
  /** It contains the text of `badge` (WCAG 2.2, 2.5.3). */
  bell: plurals({ other: 'Notifications, # unread' }, badge),
  filter: 'Show',
  inbox: 'Inbox',
  unread: 'Unread',
  archived: 'Archived',
  snoozed: 'Snoozed',
  markAllAsRead: 'Mark all as read',
  markAsRead: 'Mark as read',
  markAsUnread: 'Mark as unread',
  archive: 'Archive',
  unarchive: 'Move to inbox',
  more: 'More',
  archiveRead: 'Archive all read',
  /** Notifications of the system, with the page closed; then what the entry has done. */
  push: {
    on: 'Notify me on this device',
    off: 'Do not notify me on this device',
    isOn: 'Notifications appear on this device',
    isOff: 'No more notifications on this device',
    denied: 'Your browser blocks notifications of this site.',
  },
  snooze: {
    hour: 'Snooze for an hour',
    tomorrow: 'Snooze until tomorrow',
    week: 'Snooze until next week',
  },
  mute: 'Mute this category',
  unmute: 'Unmute this category',
  delete: 'Delete',
  deleteForGood: 'Delete for good',
  keys: {
    title: 'Keyboard shortcuts',
    next: 'Next notification',
    previous: 'Previous notification',
    open: 'Open',
    unread: 'Mark as read or unread',
    snooze: 'Snooze',
    off: 'Turn off single keys',
    on: 'Turn on single keys',
  },
  /** The sheet of preferences, and its entry in the menu. `rules`: when a mail is sent about what is unread. */
  preferences: {
    title: 'Notification settings',
    category: 'Category',
    everything: 'All notifications',
    mail: 'By e-mail',
    push: 'On your devices',
    on: 'On',
    mutes: {
      hour: 'Muted for an hour',
      tomorrow: 'Muted until tomorrow, 8:00',
      week: 'Muted for a week',
    },
    muted: 'Always muted',
    mandatory: 'Always on',
    atOnce: 'At once',
    usual: (rule: string) => `Default (${rule})`,
    rules: {
      off: 'Never',
      '5m': 'After 5 minutes',
      '15m': 'After 15 minutes',
      '1h': 'After an hour',
      hourly: 'Every hour',
      daily: 'Once a day',
      weekly: 'Once a week',
    },
    noMail: {
      off: 'No e-mails are sent about notifications.',
      'no-address': 'For e-mails, your account needs a verified address.',
      refused: 'Your mail server refused our e-mails, so no more are sent.',
    },
    noPush: 'This browser cannot show notifications while the page is closed.',
    timeZone: 'Time zone',
    digestAt: 'Daily and weekly e-mails at',
    quiet: 'Quiet hours: nothing is sent',
    from: 'From',
    to: 'to',
    close: 'Close',
  },
  unfold: 'Show all',
  important: 'Important',
  undo: 'Undo',
  seeAll: 'See all',
  loadMore: 'Load more',
  tryAgain: 'Try again',
  signIn: 'Sign in',
  /** The button that displays what arrived while the list was held. */
  newer: plurals({ other: '# new' }, badge),
  /** Screen readers read it. */
  countLabel: plurals({ one: 'sent once', two: 'sent twice', other: 'sent # times' }),
  /** Screen readers read it. */
  itemUnread: 'Unread',
  until: 'Until',
  loading: 'Loading notifications',
  none: {
    inbox: ['No notifications yet', 'New ones appear here as soon as they arrive.'],
    unread: ['You have read everything', 'Notifications that you have not read appear here.'],
    archived: ['Nothing is archived', 'What you archive is kept here.'],
    snoozed: ['Nothing is snoozed', 'What you snooze waits here until its time.'],
    category: ['Nothing in this category', 'Other categories may have notifications.'],
  },
  signedOutTitle: 'You are signed out',
  signedOutText: 'Sign in to see your notifications.',
  offlineTitle: 'No connection',
  offlineText: 'What you change now is sent when the connection is back.',
  errorTitle: 'Cannot show your notifications',
  /** By the `code` of the error; `other` for a code that is not here. */
  errors: {
    NETWORK: 'The server does not respond.',
    TOO_MANY_REQUESTS: 'The server is busy. Try again in a moment.',
    FORBIDDEN: 'You do not have access.',
    NOT_FOUND: 'The notification no longer exists.',
    CONFLICT: 'It is too late for that, or it is a security notice, which stays for 24 hours.',
    other: 'The server reported a problem.',
  } as { readonly [code: string]: string; readonly other: string },
  allMarkedAsRead: 'All marked as read',
  itemArchived: 'Archived',
  itemSnoozed: 'Snoozed',
  categoryMuted: 'Category muted',
  categoryUnmuted: 'Category unmuted',
  arrived: plurals({ one: '# new notification', other: '# new notifications' }),
  loaded: plurals({ one: '# more notification', other: '# more notifications' }),
  undone: 'Undone',
  /** A refused act was taken back; a text of `errors` follows. */
  notMarkedAsRead: 'Not marked as read.',
  notMarkedAsUnread: 'Not marked as unread.',
  notUndone: 'Not undone.',
  notDone: 'That was not done.',
})

export type Language = typeof texts
export type Strings = ReturnType<Language> & {
  /** The requested one, if there are texts in its language; otherwise `en`. */
  locale: string
  direction: 'ltr' | 'rtl'
  /** The number on the bell, `99+` above 99. */
  badge(unread: number): string
  count(count: number): string
}
