// How a notification becomes JSON text, on both engines and for every reader: list, ETag, events and changes. Its row has the JSON text
// of what a delivery gives. A read joins all members in SQL, so no row is parsed or becomes an object on the way from the database to the
// response.
import { iso } from '../basics/clock.ts'
import { Part } from '../store/statements.ts'
import { content } from './inbox.schemas.ts'
import type { ArchiveRead, ReadAll } from './inbox-state.ts'
import { anyPlaceSql, inTheList, type Place, readAtByAnyMarkSql } from './read-at.ts'

/** What a delivery may give besides the title: a column for each, null if it was not given. */
type Member = keyof typeof content
const members = Object.keys(content) as Member[]
/** Columns of plain text; the others have JSON text. */
const plain = ['category', 'key'] as const
type JsonTexts = Record<Exclude<Member, (typeof plain)[number]>, string | null>
const isJson = (name: Member): name is keyof JsonTexts => !(plain as readonly Member[]).includes(name)
const jsonColumns = members.filter(isJson)

/** The columns of JSON text as a delivery writes them; the title has no quotes. */
export type Content = JsonTexts & {
  title: string
  /** The members that follow: without braces, null for the defaults. */
  look: string | null
  expires_at: string | null
}

/** One text, or texts by language tags. */
export type Texts = string | Readonly<Record<string, string>>
type Given = { [Name in keyof JsonTexts | 'icon' | 'actions']?: unknown } & {
  title: Texts
  body?: Texts | null
  actor?: { name: string; imageUrl?: string | null } | null
  format?: string | null
  expiresAt?: string | null
}

/** The look of a notification whose delivery said nothing of it. */
const plainLook = '"actor":null,"icon":null,"actions":null,"format":"text","expiresAt":null'

export function contentOf(given: Given): Content {
  const { title, body, expiresAt } = given
  const shown = { ...given, title: fallbackOf(title), body: body && fallbackOf(body) }
  const columns = {} as JsonTexts
  for (const name of jsonColumns) columns[name] = shown[name] == null ? null : JSON.stringify(shown[name])
  const expires_at = expiresAt == null ? null : iso(Date.parse(expiresAt))
  return { ...columns, title: JSON.stringify(shown.title).slice(1, -1), look: lookOf(given, expires_at), expires_at }
}

/** What `contentOf` made the columns of. */
export function givenOf({ title, body, url, data, look }: Content): Given {
  const { texts = {}, ...shown } = JSON.parse(`{${look ?? ''}}`) as { texts?: Record<string, Translated> }
  const tags = Object.entries(texts)
  const inLanguages = (member: keyof Translated) => {
    const given = tags.flatMap(([tag, one]) => (one[member] === undefined ? [] : [[tag, one[member]]]))
    return given.length > 0 ? Object.fromEntries(given) : undefined
  }
  const parsed = (json: string | null) => json && JSON.parse(json)
  const inAll = { title: inLanguages('title') ?? parsed(`"${title}"`), body: inLanguages('body') ?? parsed(body) }
  return { ...inAll, url: parsed(url), data: parsed(data), ...shown }
}

/** The text for a reader whose language has none. */
export function fallbackOf(texts: Texts): string {
  return typeof texts === 'string' ? texts : (texts.en ?? Object.values(texts)[0] ?? '')
}

type Translated = { title?: string; body?: string }

/** Title and body in each language; undefined for one text. */
function translatedIn({ title, body }: Given): Record<string, Translated> | undefined {
  if (typeof title === 'string' && typeof body !== 'object') return undefined
  const texts: Record<string, Translated> = {}
  for (const [member, given] of Object.entries({ title, body }))
    if (typeof given === 'object')
      for (const [tag, text] of Object.entries(given ?? {})) texts[tag] = { ...texts[tag], [member]: text }
  return Object.keys(texts).length === 0 ? undefined : texts
}

function lookOf(given: Given, expiresAt: string | null): string | null {
  const { actor = null, icon = null, actions = null, format } = given
  const texts = translatedIn(given)
  if (!(actor || icon || actions || expiresAt || texts || format === 'markdown')) return null
  const shown = actor && { name: actor.name, imageUrl: actor.imageUrl ?? null }
  return JSON.stringify({ actor: shown, icon, actions, format: format ?? 'text', expiresAt, texts }).slice(1, -1)
}

/** The language tags whose texts a reader gets, the best one last: the first part of the reader's, and the exact one. */
export function tagsOf(locale: string | null): string[] {
  return locale === null ? [] : [locale.replace(/-.*/, ''), locale]
}

/**
 * Whether the JSON text of notifications may have texts in several languages; a key in `data` can look the same. A search for a letter that
 * is rare takes a tenth of the time of one for a quote.
 */
export function mayHaveTexts(json: string): boolean {
  return json.includes('xts":{')
}

/**
 * The JSON text of a notification, or of a list of them, in the reader's language: title and body are those of the exact language tag, or of
 * its first part. Otherwise they are what the row has: in English, or in the first language that was given.
 */
export function localize(json: string, locale: string | null): string {
  if (!mayHaveTexts(json)) return json
  const parsed = JSON.parse(json)
  const tags = tagsOf(locale)
  let hasTexts = false
  for (const notification of [parsed].flat()) {
    const { texts } = notification as { texts?: Record<string, Translated> }
    if (texts === undefined) continue
    hasTexts = true
    Object.assign(notification, ...tags.map((tag) => texts[tag]), { texts: undefined })
  }
  return hasTexts ? JSON.stringify(parsed) : json
}

const beforeId = '{"id":"'

/** The JSON of a text that is not null. */
const jsonOf = { sqlite: (text: string) => `json_quote(${text})`, postgres: (text: string) => `to_json(${text})::text` }

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
  concat('${beforeId}', n.id, '","title":"', n.title, '",${given.join()},',
    coalesce(n.look, '${plainLook}'), ',"createdAt":"', n.created_at, '","updatedAt":"', coalesce(n.updated_at, n.created_at), '","seq":', n.seq,
    case n.count when 1 then ',"count":1,"read":' else concat(',"count":', n.count, ',"read":') end,
    coalesce('true,"readAt":"' || ${readAt} || '",', 'false,"readAt":null,'), ${end})`
}

/** In a statement whose first value is the user. */
export const notificationText = new Part(
  notificationJsonSql('sqlite', readAtByAnyMarkSql('n.user_id'), anyPlaceSql('n.user_id')),
  notificationJsonSql('postgres', readAtByAnyMarkSql('$1'), anyPlaceSql('$1')),
)

export const noItems = '[]'

/** The id of the newest notification in a text that begins with `Page.items`, or undefined if the page is empty. */
export function newestIdIn(items: string): string | undefined {
  if (items.startsWith(noItems)) return undefined
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
