import type { NotificationPage } from '../transport/types.ts'

/** Newest first. */
export function notificationPage(titles: readonly string[]): NotificationPage {
  const at = '2026-01-01T00:00:00.000Z'
  const items = titles.map((title, index) => ({
    id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    title,
    body: null,
    url: null,
    category: null,
    data: null,
    key: null,
    createdAt: at,
    updatedAt: at,
    seq: titles.length - index,
    count: 1,
    read: false,
    readAt: null,
    actor: null,
    icon: null,
    actions: null,
    format: 'text' as const,
    priority: 'normal' as const,
    expiresAt: null,
    archivedAt: null,
    snoozedUntil: null,
  }))
  return {
    items,
    total: titles.length,
    hasMore: false,
    unread: titles.length,
    version: titles.length,
    next: null,
  }
}
