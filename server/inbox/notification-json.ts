// SQL joins the JSON text of rows: no row is parsed between database and response.
import { iso } from '../basics/clock.ts'
import { Part } from '../store/statements.ts'
import { content, priorities } from './inbox.schemas.ts'
import type { ArchiveRead, ReadAll } from './inbox-state.ts'

type Member = keyof typeof content
const members = Object.keys(content) as Member[]
const plain = ['category', 'key'] as const
type JsonTexts = Record<Exclude<Member, (typeof plain)[number]>, string | null>
const isJson = (name: Member): name is keyof JsonTexts =>
  !(plain as readonly Member[]).includes(name)
const jsonColumns = members.filter(isJson)

export type Content = JsonTexts & {
  title: string
  look: string | null
  expires_at: string | null
  priority: string | null
}

export type Texts = string | Readonly<Record<string, string>>
type Given = { [Name in keyof JsonTexts | 'icon' | 'actions']?: unknown } & {
  title: Texts
  body?: Texts | null
  actor?: { name: string; imageUrl?: string | null } | null
  format?: string | null
  expiresAt?: string | null
  priority?: string | null
}

const plainLook = '"actor":null,"icon":null,"actions":null,"format":"text"'

export function contentOf(given: Given): Content {
  const { title, body, expiresAt, priority } = given
  const shown = { ...given, title: fallbackOf(title), body: body && fallbackOf(body) }
  const columns = {} as JsonTexts
  for (const name of jsonColumns)
    columns[name] = shown[name] == null ? null : JSON.stringify(shown[name])
  return {
    ...columns,
    title: JSON.stringify(shown.title).slice(1, -1),
    look: lookOf(given),
    expires_at: expiresAt == null ? null : iso(Date.parse(expiresAt)),
    priority: priority == null || priority === priorities[0] ? null : priority,
  }
}

export function givenOf({ title, body, url, data, look, expires_at, priority }: Content): Given {
  const { texts = {}, ...shown } = JSON.parse(`{${look ?? ''}}`) as {
    texts?: Record<string, Translated>
  }
  const tags = Object.entries(texts)
  const inLanguages = (member: keyof Translated) => {
    const given = tags.flatMap(([tag, one]) =>
      one[member] === undefined ? [] : [[tag, one[member]]],
    )
    return given.length > 0 ? Object.fromEntries(given) : undefined
  }
  const parsed = (json: string | null) => json && JSON.parse(json)
  const inAll = {
    title: inLanguages('title') ?? parsed(`"${title}"`),
    body: inLanguages('body') ?? parsed(body),
  }
  return {
    ...inAll,
    url: parsed(url),
    data: parsed(data),
    ...shown,
    expiresAt: expires_at,
    priority,
  }
}

function fallbackOf(texts: Texts): string {
  return typeof texts === 'string' ? texts : (texts.en ?? Object.values(texts)[0] ?? '')
}

type Translated = { title?: string; body?: string }

function translatedIn({ title, body }: Given): Record<string, Translated> | undefined {
  if (typeof title === 'string' && typeof body !== 'object') return undefined
  const texts: Record<string, Translated> = {}
  for (const [member, given] of Object.entries({ title, body }))
    if (typeof given === 'object')
      for (const [tag, text] of Object.entries(given ?? {}))
        texts[tag] = { ...texts[tag], [member]: text }
  return Object.keys(texts).length === 0 ? undefined : texts
}

function lookOf(given: Given): string | null {
  const { actor = null, icon = null, actions = null, format } = given
  const texts = translatedIn(given)
  if (!(actor || icon || actions || texts || format === 'markdown')) return null
  const shown = actor && { name: actor.name, imageUrl: actor.imageUrl ?? null }
  return JSON.stringify({ actor: shown, icon, actions, format: format ?? 'text', texts }).slice(
    1,
    -1,
  )
}

/** The tag that fits best is the last. */
function tagsOf(locale: string | null): string[] {
  return locale === null ? [] : [locale.replace(/-.*/, ''), locale]
}

export function textFor(locale: string | null, texts: Texts): string {
  if (typeof texts === 'string') return texts
  const own = tagsOf(locale).findLast((tag) => texts[tag] !== undefined) ?? ''
  return texts[own] ?? fallbackOf(texts)
}

/** A key in `data` can look the same. A rare letter is found ten times as fast as a quote. */
export function mayHaveTexts(json: string): boolean {
  return json.includes('xts":{')
}

/** Chooses texts of the exact language tag, or its first part; else English, or the first given. */
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

const jsonOf = {
  sqlite: (text: string) => `json_quote(${text})`,
  postgres: (text: string) => `to_json(${text})::text`,
}

/** `localize` takes the member `texts` out. `concat` takes half the time of `||`. */
export function notificationJsonSql(engine: keyof typeof jsonOf): string {
  // A comparison costs less than jsonOf.
  const plainText = (name: Member) =>
    `case when n.${name} is null then 'null' else ${jsonOf[engine](`n.${name}`)} end`
  const given = members.map((member) => {
    return `"${member}":', ${isJson(member) ? `coalesce(n.${member}, 'null')` : plainText(member)}, '`
  })
  return `
  concat('${beforeId}', n.id, '","title":"', n.title, '",${given.join()},',
    coalesce(n.look, '${plainLook}'), ',"priority":"', coalesce(n.priority, '${priorities[0]}'),
    coalesce('","expiresAt":"' || n.expires_at || '"', '","expiresAt":null'), ',"createdAt":"', n.created_at, '","updatedAt":"', coalesce(n.updated_at, n.created_at), '","seq":', n.seq,
    case n.count when 1 then ',"count":1,"read":' else concat(',"count":', n.count, ',"read":') end,
    coalesce('true,"readAt":"' || n.read_at || '",', 'false,"readAt":null,'),
    coalesce('"archivedAt":"' || n.archived_at || '",', '"archivedAt":null,'),
    coalesce('"snoozedUntil":"' || n.snoozed_until || '"}', '"snoozedUntil":null}'))`
}

export const notificationText = new Part(
  notificationJsonSql('sqlite'),
  notificationJsonSql('postgres'),
)

export const noItems = '[]'

export function newestIdIn(items: string): string | undefined {
  if (items.startsWith(noItems)) return undefined
  const start = '['.length + beforeId.length
  return items.slice(start, items.indexOf('"', start))
}

export function readAllJson({ throughId, throughSeq, at, categories }: ReadAll): string {
  const only = categories === undefined ? '' : `,"categories":${JSON.stringify(categories)}`
  return `"through":${JSON.stringify(throughId)},"throughSeq":${throughSeq},"readAt":"${at}"${only}`
}

export function archiveReadJson({ throughSeq, at }: ArchiveRead): string {
  return `"throughSeq":${throughSeq},"archivedAt":"${at}"`
}
