import type { Notification } from '../../client/transport/types.ts'
import type { Given } from './given-inbox.ts'
import { longSamples, manySamples, notification } from './samples.ts'

export type State = {
  /** In the address, `?state=`, and in the titles of tests. */
  name: string
  title: string
  /** `now`: in milliseconds since 1970. */
  given(items: Notification[], now: number): Given
  tab?: 'unread' | 'archived' | 'snoozed'
  inPage?: boolean
}

const labelled = (label: string) => ({
  label,
  description: null,
  mandatory: false,
  mutedUntil: null,
  mail: null,
  push: null,
  usualMail: 'off' as const,
})
const categories = { Deploys: labelled('Deploys and builds'), النشر: labelled('النشر والبناء') }
const everyday = (items: Notification[]): Given => ({ items, categories })
const away = (change: Partial<Notification>) => (items: Notification[]) => ({
  items: items.map((one, index) => ({ ...one, read: true, ...(index > 2 && change) })),
})
const archivedAt = '2026-11-22T11:00:00.000Z'
const snoozedUntil = '2026-11-23T08:00:00.000Z'

const markup = [
  '<img src=x onerror=alert(1)>',
  '<b>bold</b> &amp; <script>alert(1)</script>',
  '<i>',
] as const

export const states: readonly [State, ...State[]] = [
  { name: 'many', title: 'Several', given: everyday },
  { name: 'bell', title: 'A bell to open', inPage: true, given: everyday },
  { name: 'one', title: 'One', given: (items) => ({ items: items.slice(0, 1) }) },
  { name: 'empty', title: 'Empty', given: () => ({}) },
  {
    name: 'read',
    title: 'All read',
    given: (items) => ({ items: items.map((one) => ({ ...one, read: true })) }),
  },
  { name: 'archived', title: 'The archive', tab: 'archived', given: away({ archivedAt }) },
  { name: 'archive-empty', title: 'Nothing archived', tab: 'archived', given: everyday },
  { name: 'snoozed', title: 'Snoozed until later', tab: 'snoozed', given: away({ snoozedUntil }) },
  { name: 'snoozed-empty', title: 'Nothing snoozed', tab: 'snoozed', given: everyday },
  { name: 'loading', title: 'Loading', given: () => ({ state: 'loading' }) },
  { name: 'error', title: 'Error', given: () => ({ state: 'error', error: 'INTERNAL' }) },
  {
    name: 'offline',
    title: 'Offline',
    given: (items) => ({ items, categories, state: 'offline', error: 'NETWORK' }),
  },
  {
    name: 'offline-at-start',
    title: 'Offline from the start',
    given: () => ({ state: 'offline', error: 'NETWORK' }),
  },
  { name: 'signed-out', title: 'Signed out', given: () => ({ state: 'signed-out' }) },
  {
    name: 'newer',
    title: 'New ones wait',
    given: (items) => ({ items: items.slice(2), newer: items.slice(0, 2) }),
  },
  {
    name: 'refused',
    title: 'Refused acts',
    given: (items) => ({ items, categories, refusal: 'FORBIDDEN' }),
  },
  {
    name: 'thousands',
    title: '10,000',
    given: (_items, now) => ({ items: manySamples(10_000, now) }),
  },
  { name: 'long', title: 'Long words', given: (_items, now) => ({ items: longSamples(now) }) },
  {
    name: 'markup',
    title: 'Markup is text',
    given: (_items, now) => ({ items: [notification(markup, 0, now)] }),
  },
]
