// A list merges index ranges, one for each state and category, read as far as needed. `$1`: user.
import type { Filter, State, Status } from './inbox-state.ts'

export type Shape = { status: Status; hasCategories: boolean }

const statesOf: Readonly<Record<Status, readonly State[]>> = {
  inbox: ['unread', 'read'],
  unread: ['unread'],
  read: ['read'],
  archived: ['archived'],
  snoozed: ['snoozed'],
  all: ['unread', 'read', 'archived', 'snoozed'],
}

export function rangesOf({ status, categories }: Filter): number {
  return statesOf[status].length * (categories?.length ?? 1)
}

const dialects = {
  sqlite: {
    wanted: 'select value as category from json_each($5)',
    each: (range: string) =>
      `select one.value as seq from wanted cross join json_each((select json_group_array(seq) from (${range}))) one`,
  },
  postgres: {
    wanted: 'select category from unnest($4::text[]) category',
    each: (range: string) => `select one.seq from wanted cross join lateral (${range}) one`,
  },
}
type Engine = keyof typeof dialects

/** SQL expressions: the page takes `taken` below a sequence number, after `skipped` others. */
export type Place = { below: string; taken: string; skipped: string; unless?: string }

export function listSql(engine: Engine, { status, hasCategories }: Shape, place: Place): string {
  const { below, taken, skipped, unless } = place
  const unlessSo = unless === undefined ? '' : `and not ${unless}`
  const range = (where: string) => `select seq from notification
    where user_id = $1 ${where} and seq < ${below} ${unlessSo} order by seq desc limit ${taken} + ${skipped}`
  const rangeOf = (state: State) => {
    if (hasCategories)
      return dialects[engine].each(range(`and category = wanted.category and state = '${state}'`))
    return `select seq from (${range(`and state = '${state}'`)}) one`
  }
  // Without a filter, everything is a range of the key.
  const ranges =
    status === 'all' && !hasCategories
      ? [`select seq from (${range('')}) one`]
      : statesOf[status].map(rangeOf)
  const wanted = hasCategories ? `with wanted as (${dialects[engine].wanted})` : ''
  return `${wanted} select seq from (${ranges.join(' union all ')}) page
    order by seq desc limit ${taken} offset ${skipped}`
}

/** `hasAway`: something is archived or snoozed. */
export function hasAll({ status, categories }: Filter, hasAway: boolean): boolean {
  return categories === undefined && (status === 'all' || (status === 'inbox' && !hasAway))
}
