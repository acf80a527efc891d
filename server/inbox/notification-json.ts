// How a notification becomes JSON text, on both engines and for every reader: list, ETag, events and changes. Its row has the JSON text
// of what a delivery gives. A read joins all members in SQL, so no row is parsed or becomes an object on the way from the database to the
// response.
import { Part } from '../store/statements.ts'
import { content } from './inbox.schemas.ts'
import type { ArchiveRead, ReadAll } from './inbox-state.ts'
import { anyPlaceSql, readAtByAnyMarkSql } from './read-at.ts'

/** What a delivery may give besides the title: a column for each, null if it was not given. */
type Member = keyof typeof content
const members = Object.keys(content) as Member[]
/** Columns of plain text; the others have JSON text. */
const plain = ['category', 'key'] as const
type JsonTexts = Record<Exclude<Member, (typeof plain)[number]>, string | null>
const isJson = (name: Member): name is keyof JsonTexts => !(plain as readonly Member[]).includes(name)
const jsonColumns = members.filter(isJson)

/** The columns of JSON text as a delivery writes them; the title has no quotes. */
export type Content = JsonTexts & { title: string }

export function contentOf(given: { [Name in keyof JsonTexts]?: unknown } & { title: string }): Content {
  const texts = Object.fromEntries(jsonColumns.map((name) => [name, textOf(given[name])])) as JsonTexts
  return { ...texts, title: JSON.stringify(given.title).slice(1, -1) }
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}

const beforeId = '{"id":"'

/** The JSON of a text that is not null. */
const jsonOf = {
  sqlite: (text: string) => `json_quote(${text})`,
  postgres: (text: string) => `to_json(${text})::text`,
}

/** Where the notification `n` is, as SQL: expressions of a time, or null. */
export type Place = { archivedAt: string; snoozedUntil: string }

/** In the list: neither archived nor snoozed. */
export const inTheList: Place = { archivedAt: 'null', snoozedUntil: 'null' }

/** The members of `look` that no delivery gave. */
const plainLook = '"actor":null,"icon":null,"actions":null,"format":"text"'

/**
 * The JSON text of a row `n` of notification, as SQL. `readAt` is an expression, null for an unread notification. Texts in several languages
 * are its member `texts`, which `localize` takes out. Each argument of `concat` costs time; `concat` takes half the time of `||`.
 */
export function notificationJsonSql(engine: keyof typeof jsonOf, readAt: string, place: Place): string {
  // Most notifications have no key, and a comparison costs less than jsonOf.
  const plainText = (name: Member) => `case when n.${name} is null then 'null' else ${jsonOf[engine](`n.${name}`)} end`
  const given = members.map((member) => {
    return `"${member}":', ${isJson(member) ? `coalesce(n.${member}, 'null')` : plainText(member)}, '`
  })
  const timeOr = (name: string, time: string, after: string) =>
    time === 'null'
      ? `'"${name}":null${after}'`
      : `coalesce('"${name}":"' || ${time} || '"${after}', '"${name}":null${after}')`
  const archived = timeOr('archivedAt', place.archivedAt, ',')
  const snoozed = timeOr('snoozedUntil', place.snoozedUntil, '}')
  const end = place === inTheList ? `'"archivedAt":null,"snoozedUntil":null}'` : `${archived}, ${snoozed}`
  return `
  concat('${beforeId}', n.id, coalesce('","texts":' || n.texts || ',"title":"', '","title":"'), n.title, '",${given.join()},',
    coalesce(n.look, '${plainLook}'), ',"createdAt":"', n.created_at, '","updatedAt":"', coalesce(n.updated_at, n.created_at), '",',
    ${timeOr('expiresAt', 'n.expires_at', ',"seq":')}, n.seq,
    case n.count when 1 then ',"count":1,"read":' else concat(',"count":', n.count, ',"read":') end,
    coalesce('true,"readAt":"' || ${readAt} || '",', 'false,"readAt":null,'), ${end})`
}

/** In a statement whose first value is the user. */
export const notificationText = new Part(
  notificationJsonSql('sqlite', readAtByAnyMarkSql('n.user_id'), anyPlaceSql('n.user_id')),
  notificationJsonSql('postgres', readAtByAnyMarkSql('$1'), anyPlaceSql('$1')),
)

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

/** The members that describe a change of type 'archive-read', without braces. */
export function archiveReadJson({ throughSeq, at }: ArchiveRead): string {
  return `"throughSeq":${throughSeq},"archivedAt":"${at}"`
}
