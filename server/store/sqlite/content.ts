// The content of a notification as its row keeps it (decision 0054): the names of members that every content has are in the statements
// that read it, createdAt has a column of its own, and the category is only in the one that it has anyway.
import { timeLength } from '../notification-json.ts'

const beforeTitle = '"title":"'
const beforeCategory = ',"category":'
const beforeData = ',"data":'
const noKey = ',"key":null'
const beforeTime = ',"createdAt":"'

/**
 * `content` begins with the value of the title, without its first quote. If `data` is not null, it is the JSON text of the member `data`,
 * also `null`; `content` ends with the member `url`, and the key is null. Otherwise `content` has every member before `createdAt`: there is
 * a key, or the category has characters that JSON escapes.
 */
type ContentColumns = { content: string; data: string | null; createdAt: string }
type Content = { content: string; category: string | null }

/** The columns of a `Delivery.content`. */
export function toColumns({ content: given, category }: Content): ContentColumns {
  const createdAt = given.slice(-timeLength - 1, -1)
  const content = given.slice(beforeTitle.length, -beforeTime.length - timeLength - 1)
  const between = betweenUrlAndData(category)
  const end = content.endsWith(noKey) ? content.indexOf(between) : -1
  if (end < 0) return { content, data: null, createdAt }
  return { content: content.slice(0, end), data: content.slice(end + between.length, -noKey.length), createdAt }
}

/** Like `toColumns`; undefined if the content does not begin with a title or not end with `createdAt`. */
export function toColumnsIfContent(given: Content): ContentColumns | undefined {
  const columns = toColumns(given)
  return fromColumns(columns, given.category) === given.content ? columns : undefined
}

function fromColumns({ content, data, createdAt }: ContentColumns, category: string | null): string {
  const rest = data === null ? '' : `${betweenUrlAndData(category)}${data}${noKey}`
  return `${beforeTitle}${content}${rest}${beforeTime}${createdAt}"`
}

function betweenUrlAndData(category: string | null): string {
  return `${beforeCategory}${category === null ? null : `"${category}"`}${beforeData}`
}

/** The content of the row `of`, or what `sqlFor` makes of it: arguments of `concat`, of which the first and last are within a literal. */
export function contentSql(of: string, sqlFor = (content: string) => `concat('${content}')`): string {
  const sqlWith = (rest: string) =>
    sqlFor(`${beforeTitle}', ${of}.content, '${rest}${beforeTime}', ${of}.created_at, '"`)
  return `case
    when ${of}.data is null then ${sqlWith('')}
    when ${of}.category is null then ${sqlWith(`${beforeCategory}null${beforeData}', ${of}.data, '${noKey}`)}
    else ${sqlWith(`${beforeCategory}"', ${of}.category, '"${beforeData}', ${of}.data, '${noKey}`)}
  end`
}
