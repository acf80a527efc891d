// What mails, pushes and events say is read when they leave.
import { localize } from '../inbox/notification-json.ts'
import { userKey } from '../inbox/user-key.ts'
import { all, inList, Part, type Read } from '../store/statements.ts'

/** Times are ISO 8601. */
export type Item = {
  id: string
  key: string | null
  category: string | null
  priority: 'low' | 'high' | null
  title: string
  url: string | null
  look: string | null
  createdAt: string
  updatedAt: string | null
  readAt: string | null
  archivedAt: string | null
}

export const itemColumns = new Part(`
  id, key, category, priority, title, url, look, created_at as "createdAt", updated_at as "updatedAt", read_at as "readAt",
  archived_at as "archivedAt"`)

type Ids = { userId: string; ids: readonly string[] }

/** In the given order. */
export function* unreadOf({ userId, ids }: Ids): Read<string[]> {
  const rows = yield* all<{ id: string }>`
    select id from notification where user_id = ${userKey(userId)} and state = 'unread' and id ${inList(ids)}`
  const unread = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => unread.has(id))
}

/** By id, without those that are gone. */
export function* itemsOf({ userId, ids }: Ids): Read<Map<string, Item>> {
  const rows = yield* all<Item>`
    select ${itemColumns} from notification where user_id = ${userKey(userId)} and id ${inList(ids)}`
  return new Map(rows.map((row) => [row.id, row]))
}

export function titleFor(
  { locale }: { locale: string | null },
  { title, look }: Pick<Item, 'title' | 'look'>,
): string {
  const members = [`"title":"${title}"`, look].filter(Boolean)
  return JSON.parse(localize(`{${members.join(',')}}`, locale)).title
}
