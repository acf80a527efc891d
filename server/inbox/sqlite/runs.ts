// The sequence numbers of a page among gaps or with a filter. The notifications of a list lie in runs, such as the unread ones of a
// category: each run is a range of one index, in the order of the list. SQLite merges the runs and reads no further than the page, so a
// page by cursor costs the same at any depth. A numbered page passes over the index entries above it (decision 0030).
import type { Reader } from '../../store/sqlite/reader.ts'
import type { InboxState, PageRequest } from '../inbox-state.ts'
import { coversSql } from '../read-at.ts'
import type { FoundInbox } from './found-inbox.ts'

type Runs = {
  status: PageRequest['status']
  categoryCount: number
  hasMarkedUnread: boolean
  hasCategoryMarks: boolean
}

/** `?1` is the user's key, `?2` the sequence number below which the page begins, `?3` its size, `?4` how many are skipped. */
const fixedParameters = 6
const covered = `exists (select 1 from category_read_mark m where ${coversSql('?1')})`
const notCovered = `and not ${covered}`
const categoriesThrough = `(select category_through from inbox where user_id = ?1)`
const markedUnreadSql = ({
  hasCategoryMarks,
}: Runs) => `select n.seq from notification n indexed by notification_marked_unread
  where n.user_id = ?1 and n.unread_version >= ?5 and n.seq <= ?6 ${hasCategoryMarks ? notCovered : ''}`

/** Where the read-all that reached furthest in the category ended: it covers what lies at or below, unless it was marked as unread. */
const newestMarkOf = (category: string) => `max(?6, coalesce((
  select max(m.through_seq) from category_read_mark m where m.user_id = ?1 and m.category = ${category}), 0))`
/** In an inbox with category marks, the unread notifications that a read-all once covered: a run that is sorted, because they are few. */
const markedUnreadByAnyMark = `select n.seq from notification n indexed by notification_marked_unread
  where n.user_id = ?1 and n.unread_version > 0 and (n.seq > ?6 or n.unread_version >= ?5)
    and n.seq <= ${newestMarkOf('n.category')} ${notCovered}`

/** `bounds` begins with the sequence number that the run is below. `indexed by`: SQLite would take the primary key instead of an index of read notifications. */
function run(isRead: boolean, category: string | undefined, bounds: string): string {
  const index = `notification_${isRead ? 'read' : 'unread'}${category === undefined ? '' : '_by_category'}`
  return `select n.seq from notification n indexed by ${index}
    where n.user_id = ?1 ${category === undefined ? '' : `and n.category = ${category}`}
      and n.read_at is ${isRead ? 'not' : ''} null and n.seq < ${bounds}`
}

/** The runs of one category, or of all notifications. `?5` is the user's readVersion, `?6` the readThrough. */
function runsOf({ status, hasCategoryMarks }: Runs, category?: string): string[] {
  if (status === 'unread') return [run(false, category, `?2 and ${unreadAbove(category, hasCategoryMarks)}`)]
  const read = run(true, category, '?2')
  if (status === 'all') return [read, run(false, category, '?2')]
  // One bound: of two SQLite would use one for the index, and compare each notification with the other.
  if (!hasCategoryMarks) return [read, run(false, category, 'min(?2, ?6 + 1)')]
  return [read, run(false, category, `min(?2, max(?6, ${categoriesThrough}) + 1) and (n.seq <= ?6 or ${covered})`)]
}

function unreadAbove(category: string | undefined, hasCategoryMarks: boolean): string {
  if (!hasCategoryMarks) return 'n.seq > ?6'
  return category === undefined ? `n.seq > ?6 ${notCovered}` : `n.seq > ${newestMarkOf(category)}`
}

/** The sequence numbers of a page. The parameters from `?7` on are the categories. */
export function seqsSql(runs: Runs): string {
  const { status, categoryCount, hasMarkedUnread, hasCategoryMarks } = runs
  const isBounded = hasCategoryMarks && categoryCount > 0
  const markedUnread = status === 'unread' && isBounded ? markedUnreadByAnyMark : markedUnreadSql(runs)
  const categories = Array.from({ length: categoryCount }, (_, index) => `?${fixedParameters + 1 + index}`)
  const all = categoryCount === 0 ? runsOf(runs) : categories.flatMap((category) => runsOf(runs, category))
  if (status === 'unread' && (hasMarkedUnread || isBounded))
    all.push(`${markedUnread} and n.seq < ?2 ${categoryCount === 0 ? '' : `and n.category in (${categories})`}`)
  const found = all.join(' union all ')
  // Outside of the runs: SQLite then makes the list of those once, and not once for each category.
  const chosen =
    status === 'read' && hasMarkedUnread ? `select seq from (${found}) where seq not in (${markedUnread})` : found
  return `${chosen} order by 1 desc limit +?3 offset +?4`
}

/** A text for each shape that was requested: 3 statuses, with at most 20 categories. */
const texts = new Map<string, string>()

function textOf(runs: Runs): string {
  const key = Object.values(runs).join(' ')
  const known = texts.get(key)
  if (known !== undefined) return known
  const text = seqsSql(runs)
  texts.set(key, text)
  return text
}

export const categoryTotals = `
  select coalesce(sum(total), 0), coalesce(sum(unread), 0) from inbox_category
  where user_id = ?1 and category in (select value from json_each(?2))`

/** How many notifications match, on all pages. */
export function totalOf(reader: Reader, { status, categories }: PageRequest, { user, inbox }: FoundInbox): number {
  const [total, unread] =
    categories === undefined
      ? [inbox.total, inbox.unread]
      : (reader.one<[number, number]>(categoryTotals, user, JSON.stringify(categories)) as [number, number])
  return status === 'all' ? total : status === 'unread' ? unread : total - unread
}

/** No read-all covers what lies above this sequence number. */
export function coveredThrough({ readThrough, categoryThrough }: InboxState): number {
  return Math.max(readThrough, categoryThrough)
}

const maxCategories = 20
export const unreadCategories = `
  select category, unread from inbox_category where user_id = ? and unread > 0 limit ${maxCategories + 1}`

/** The categories in which all unread notifications are: their runs end at their marks. None if there are too many, or some have no category. */
function allUnreadCategories(reader: Reader, { user, inbox }: FoundInbox): string[] {
  const found = reader.all<[string, number]>(unreadCategories, user)
  const unread = found.reduce((sum, [, ofCategory]) => sum + ofCategory, 0)
  return found.length <= maxCategories && unread === inbox.unread ? found.map(([category]) => category) : []
}

/** Where notifications of a list are read: below a sequence number, after `skipped` others. */
export type Place = { below: number; skipped: number }

/** The sequence numbers of at most `taken` notifications, newest first. */
export function seqsAt(
  reader: Reader,
  { status, categories: wanted = [] }: PageRequest,
  { user, inbox, below, skipped, taken }: FoundInbox & Place & { taken: number },
): number[] {
  const hasMarkedUnread = inbox.markedUnread > 0
  const hasCategoryMarks = inbox.categoryThrough > 0
  const isAllUnread = status === 'unread' && hasCategoryMarks && wanted.length === 0
  const categories = isAllUnread ? allUnreadCategories(reader, { user, inbox }) : wanted
  const text = textOf({ status, categoryCount: categories.length, hasMarkedUnread, hasCategoryMarks })
  const values: (number | string | Uint8Array)[] = [user, below, taken, skipped]
  if (status !== 'all' || categories.length > 0) values.push(inbox.readVersion, inbox.readThrough, ...categories)
  return reader.all<[number]>(text, ...values).map(([seq]) => seq)
}
