// How a notification becomes JSON text, on both engines and for every reader: list, ETag, events and changes. A delivery
// stores the members that it gives once. A read joins the others to them in SQL, so no row is parsed or becomes an object
// on the way from the database to the response.
import type { ReadAll } from './store.ts'

/** `data` is JSON already checked by the request's schema; `createdAt` is ISO 8601. */
export type NotificationContent = {
  title: string
  body: string | null
  url: string | null
  category: string | null
  data: Record<string, unknown> | null
  key: string | null
  createdAt: string
}

/** The members that a delivery gives, in the order in which they are sent, without braces: `Delivery.content`. */
export function contentJson({ title, body, url, category, data, key, createdAt }: NotificationContent): string {
  return JSON.stringify({ title, body, url, category, data, key, createdAt }).slice(1, -1)
}

const beforeId = '{"id":"'

/** ISO 8601 with milliseconds. In a content `createdAt` and its two quotes are the last characters. */
export const timeLength = 24

/**
 * The JSON text of a row `n` of notification, as SQL of both engines. The values are expressions: `createdAt` is one of the
 * members of the content, `readAt` is null for an unread notification. `content`, all members that the delivery gave, begins and ends within
 * a literal, since each argument of `concat` costs time. `concat` takes half the time of `||`.
 */
export function notificationJsonSql({
  content,
  createdAt,
  readAt,
}: Record<'content' | 'createdAt' | 'readAt', string>): string {
  return `
  concat('${beforeId}', n.id, '",${content},"updatedAt":"', coalesce(n.updated_at, ${createdAt}),
    '","seq":', n.seq, ',"count":', n.count,
    coalesce(',"read":true,"readAt":"' || ${readAt} || '"', ',"read":false,"readAt":null'), ',"archivedAt":null}')`
}

export const noItems = '[]'

/** The id of the newest notification in `Page.items`, or undefined if the page is empty. */
export function newestIdIn(items: string): string | undefined {
  if (items === noItems) return undefined
  const start = '['.length + beforeId.length
  return items.slice(start, items.indexOf('"', start))
}

/** The members that describe a change of type 'read-all', without braces. */
export function readAllJson({ throughId, throughSeq, at, categories }: ReadAll): string {
  const only = categories === undefined ? '' : `,"categories":${JSON.stringify(categories)}`
  return `"through":${JSON.stringify(throughId)},"throughSeq":${throughSeq},"readAt":"${at}"${only}`
}
