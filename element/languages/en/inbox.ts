// The texts of both elements, in English. The other languages have its type. A page can replace each of them by the property `strings`.

/** A text in the plural forms of a language (Unicode CLDR: Arabic has six); `other` is for all that are not here. `#` is the number. */
export type Forms = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string }
/** `format` writes the number; default: in the digits of the locale. */
export type Plurals = (forms: Forms, format?: (count: number) => string) => (count: number) => string

/** Makes the texts for a locale of the language, such as `en-GB`. */
export const texts = (plurals: Plurals, badge: (count: number) => string) => ({
  /** The heading of the list, and the name of the panel, of the feed and of a bell without unread notifications. */
  title: 'Notifications',
  /** The name of the bell's button if there are unread notifications. It contains the text of `badge` (WCAG 2.2, 2.5.3). */
  bell: plurals({ other: 'Notifications, # unread' }, badge),
  /** The name of the tab list, and the tabs. */
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
  /** The button of each menu; then the entries of the menus. */
  more: 'More',
  archiveRead: 'Archive all read',
  snooze: { hour: 'Snooze for an hour', tomorrow: 'Snooze until tomorrow', week: 'Snooze until next week' },
  mute: 'Mute this category',
  unmute: 'Unmute this category',
  delete: 'Delete',
  deleteForGood: 'Delete for good',
  undo: 'Undo',
  seeAll: 'See all',
  loadMore: 'Load more',
  tryAgain: 'Try again',
  signIn: 'Sign in',
  /** The button that displays notifications which arrived while the list was held, and the name of a bell that counts what is new. */
  newer: plurals({ other: '# new' }, badge),
  /** For screen readers: how often a notification was sent. */
  countLabel: plurals({ one: 'sent once', two: 'sent twice', other: 'sent # times' }),
  /** For screen readers, in the name of a notification. */
  itemUnread: 'Unread',
  /** Before the time at which a snooze ends. */
  until: 'Until',
  loading: 'Loading notifications',
  emptyTitle: 'No notifications yet',
  emptyText: 'New ones appear here as soon as they arrive.',
  noUnreadTitle: 'You have read everything',
  noUnreadText: 'Notifications that you have not read appear here.',
  noneAway: { archived: 'Nothing is archived', snoozed: 'Nothing is snoozed' },
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
  /** Beside the button `undo`: what the reader has done. */
  allMarkedAsRead: 'All marked as read',
  itemArchived: 'Archived',
  itemSnoozed: 'Snoozed',
  categoryMuted: 'Category muted',
  categoryUnmuted: 'Category unmuted',
  /** Announced in the live region. */
  arrived: plurals({ one: '# new notification', other: '# new notifications' }),
  loaded: plurals({ one: '# more notification', other: '# more notifications' }),
  undone: 'Undone',
  /** An act of the reader was refused and taken back; followed by the text of `errors`. */
  notMarkedAsRead: 'Not marked as read.',
  notMarkedAsUnread: 'Not marked as unread.',
  notUndone: 'Not undone.',
  notDone: 'That was not done.',
})

export type Language = typeof texts
export type Strings = ReturnType<Language> & {
  /** The locale of numbers and dates: the one that was requested, if there are texts in its language. Otherwise `en`. */
  locale: string
  direction: 'ltr' | 'rtl'
  /** The number on the bell, `99+` above 99. */
  badge(unread: number): string
  /** How often a notification was sent. */
  count(count: number): string
}
