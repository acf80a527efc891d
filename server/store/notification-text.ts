// How a stored notification becomes the JSON text that is sent: the content as it was written once, between its id and
// its reader's state. No parsing, no object per row: every engine sends a page as it is stored.

/** `content` is the text of a non-empty JSON object; `readAt` is ISO 8601 text or null for unread. */
export function notificationText(id: string, content: string, readAt: string | null): string {
  const state = readAt === null ? '"read":false,"readAt":null' : `"read":true,"readAt":"${readAt}"`
  return `{"id":"${id}",${content.slice(1, -1)},${state},"archivedAt":null}`
}

type Row = readonly [id: string, content: string, readAt: string | null, ...unknown[]]

/** A JSON array of rows, in their order. */
export function pageText(rows: readonly Row[]): string {
  let text = ''
  for (const [id, content, readAt] of rows) text += (text === '' ? '[' : ',') + notificationText(id, content, readAt)
  return text === '' ? '[]' : `${text}]`
}
