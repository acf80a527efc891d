// The texts of both elements, as one language file provides them. A page can replace each of them by the property `strings`.
import type { Plurals } from './plurals.ts'

export type Strings = {
  /** The locale of numbers and dates: the one that was requested, if there are texts in its language. Otherwise `en`. */
  locale: string
  direction: 'ltr' | 'rtl'

  /** The heading of the list, and the name of the panel, of the feed and of a bell without unread notifications. */
  title: string
  /** The name of the bell's button if there are unread notifications. It contains the text of `badge` (WCAG 2.2, 2.5.3). */
  bell(unread: number): string
  /** The number on the bell: `99+` above 99. */
  badge(unread: number): string

  /** The name of the tab list, and the tabs. */
  filter: string
  all: string
  unread: string

  markAllAsRead: string
  markAsRead: string
  markAsUnread: string
  undo: string
  loadMore: string
  tryAgain: string
  signIn: string

  /** The button that displays notifications which arrived while the list was held. */
  newer(count: number): string
  /** How often a notification was sent: the number, and its name for screen readers. */
  count(count: number): string
  countLabel(count: number): string
  /** For screen readers, in the name of a notification. */
  itemUnread: string

  loading: string
  emptyTitle: string
  emptyText: string
  /** The title of the empty tab of unread notifications. */
  noUnreadTitle: string
  noUnreadText: string
  signedOutTitle: string
  signedOutText: string
  offlineTitle: string
  offlineText: string
  errorTitle: string
  /** By the `code` of the error; `other` for a code that is not here. */
  errors: { readonly [code: string]: string; readonly other: string }

  /** Beside the button `undo`, after all were marked as read. */
  allMarkedAsRead: string

  /** Announced in the live region. */
  arrived(count: number): string
  loaded(count: number): string
  undone: string
  /** An act of the reader was refused and taken back; followed by the text of `errors`. */
  notMarkedAsRead: string
  notMarkedAsUnread: string
  notUndone: string
}

/** A language file: makes its texts for a locale of the language, such as `de-CH`. */
export type Language = (locale: string, plurals: Plurals, badge: (count: number) => string) => Omit<Strings, 'badge'>
