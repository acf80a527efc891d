// The SQL that finds the notifications of a list with a filter or among gaps, on both engines. They lie in runs, such as the unread ones of a
// category: each run is a range of one index, in the order of the list, of which a page reads no more than its size. To find the place of
// a numbered page, the index entries above it are counted (decision 0073). `$1` is the user, and `box` the row of the inbox.
import { Part } from '../store/statements.ts'
import { countOf, type Filter } from './inbox-state.ts'
import { coversSql } from './read-at.ts'

/** `hasAway`: some notifications are or were archived, or are snoozed. Otherwise a list has everything. */
export type Shape = { status: Filter['status']; hasCategories: boolean; hasCategoryMarks: boolean; hasAway: boolean }

/** What the columns of a notification say of its state, without the marks that cover it. */
const states = {
  unread: 'n.read_at is null',
  read: 'n.read_at is not null and n.away is null',
  archived: "n.away = 'archived'",
  snoozed: "n.away = 'snoozed'",
}
type State = keyof typeof states

/** `categories`: reads those of the filter. `each` and `countEach`: the rows of a run for each category in `wanted`. */
const dialects = {
  sqlite: {
    categories: 'select value as category from json_each($5)',
    // In the words of the index: otherwise SQLite would not use it.
    isIn: (state: State) => `coalesce(n.away, case when n.read_at is null then 'unread' else 'read' end) = '${state}'`,
    each: (run: string) =>
      `select one.value as seq from wanted cross join json_each((select json_group_array(seq) from (${run}))) one`,
    countEach: (from: string, where: string) => `select 1 from wanted cross join ${from} where ${where}`,
    // SQLite would take the primary key instead of an index of lists.
    indexedBy: (index: string) => `indexed by ${index}`,
    greatest: 'max',
    least: 'min',
    noneOf: (seqs: string) => `n.seq not in (${seqs})`,
  },
  postgres: {
    categories: 'select category from unnest($4::text[]) category',
    isIn: (state: State) => states[state],
    each: (run: string) => `select one.seq from wanted cross join lateral (${run}) one`,
    // Without `offset 0`, PostgreSQL may read all categories and choose among the rows.
    countEach: (from: string, where: string) =>
      `select 1 from wanted cross join lateral (select from ${from} where ${where} offset 0) one`,
    indexedBy: () => '',
    greatest: 'greatest',
    least: 'least',
    // An array, so that the index of the other notifications has all that is read.
    noneOf: (seqs: string) => `n.seq <> all (array(${seqs}))`,
  },
}

/** Whether the notification `n` is unread by its own columns. */
export const isUnread = new Part(dialects.sqlite.isIn('unread'), dialects.postgres.isIn('unread'))

const field = (name: string) => `(select ${name} from box)`
const readThrough = field('read_through')
const readVersion = field('read_version')
const archiveThrough = field('archive_through')
const archiveVersion = field('archive_version')
const versionBefore = `(select m.before_version from archive_mark m where m.user_id = $1 and m.version = ${archiveVersion})`

/**
 * Rows `n` of notification, those above a sequence number or up to one. `seq`: the expression that bounds them. `of`: `each` repeats the
 * run for each category in `wanted`, `none` has what is of no category, `all` has any. `index`: the one that SQLite reads.
 */
type Run = { index: string; of?: keyof typeof categoryOf; seq: string; where: string; above?: string; upTo?: string }

type Engine = keyof typeof dialects
type List = Shape & { engine: Engine }

/** The categories of the runs. */
function wantedSql({ engine, status, hasCategories }: List): string {
  if (hasCategories) return dialects[engine].categories
  return `select category from inbox_category where user_id = $1 and ${countOf[status]} > 0`
}

/** No read-all covers what lies above, and at or below only what was marked as unread is not covered. */
function coveredThrough({ engine, hasCategoryMarks }: List, category: string): string {
  if (!hasCategoryMarks) return readThrough
  return `${dialects[engine].greatest}(${readThrough}, coalesce((
    select max(m.through_seq) from category_read_mark m where m.user_id = $1 and m.category = ${category}), 0))`
}

/** The notifications that a read-all covered and that were marked as unread since: few, and in no order. */
function markedRun(list: List): Run {
  const isUncovered = `and (n.seq > ${readThrough} or n.unread_version >= ${readVersion})
    and not exists (select 1 from category_read_mark m where ${coversSql('$1')})`
  const since = list.hasCategoryMarks ? `> 0 ${isUncovered}` : `>= ${readVersion}`
  const isOfCategories = list.hasCategories ? 'and n.category in (select category from wanted)' : ''
  // Not by seq itself: PostgreSQL would take the primary key, and pass over all notifications.
  return {
    index: 'notification_marked_unread',
    seq: 'n.seq + 0',
    where: `n.user_id = $1 and n.unread_version ${since} and n.seq + 0 <= ${coveredThrough(list, 'n.category')} ${isOfCategories}`,
  }
}

/**
 * What stayed in the list at the last archive-read, or was put back since; or, `isEarlier`, at the one before, and is archived by the last one.
 * An archive-read leaves no others.
 */
function keptRun(state: 'read' | 'unread', { hasCategories }: List, { isEarlier = false, more = '' } = {}): Run {
  return {
    index: `notification_kept_${state}`,
    seq: 'n.seq',
    where: `n.user_id = $1 and n.kept_version = ${isEarlier ? versionBefore : archiveVersion} and n.read_at is ${state === 'read' ? 'not ' : ''}null
      ${hasCategories ? 'and n.category in (select category from wanted)' : ''} ${more}`,
  }
}

/** What no archive-read kept. A list without a filter has a run for all, or one for each category and one for those without. */
function unkeptRuns(state: State, list: List, { more = '', isByCategory = list.engine === 'sqlite' } = {}): Run[] {
  const run = (of: keyof typeof categoryOf): Run => ({
    index: 'notification_listed',
    of,
    seq: 'n.seq',
    where: `n.user_id = $1 ${categoryOf[of]} and ${dialects[list.engine].isIn(state)} and n.kept_version is null ${more}`,
  })
  if (list.hasCategories) return [run('each')]
  return isByCategory ? [run('each'), run('none')] : [run('all')]
}

const categoryOf = { all: '', each: 'and n.category = wanted.category', none: 'and n.category is null' }

function runsOf(list: List): Run[] {
  const { status, hasAway } = list
  if (status === 'snoozed') return unkeptRuns('snoozed', list)
  const marked = markedRun(list)
  const unmarked = `and ${dialects[list.engine].noneOf(seqsIn(list.engine, marked))}`
  const runs = [...readAndUnreadRuns(list, unmarked), ...(status === 'unread' ? [marked] : [])]
  if (!hasAway && status !== 'archived') return runs
  const isCovered = `n.seq <= ${coveredThrough(list, 'n.category')}`
  const keptRead = keptRun('read', list)
  const keptUnread = keptRun('unread', list)
  const earlier = [keptRun('read', list, { isEarlier: true }), keptRun('unread', list, { isEarlier: true })]
  const above = (run: Run): Run => ({ ...run, above: archiveThrough })
  const upTo = (run: Run): Run => ({ upTo: archiveThrough, ...run })
  if (status === 'unread') return [...runs, keptRun('unread', list, { more: `and not ${isCovered} ${unmarked}` })]
  if (status === 'read')
    return [...runs.map(above), keptRead, keptRun('unread', list, { more: `and ${isCovered} ${unmarked}` })]
  if (status === 'inbox') return [...runs.map(above), keptRead, keptUnread]
  const archived = [...earlier, ...unkeptRuns('archived', list)]
  if (status === 'archived') return [...runs.map(upTo), ...archived]
  return [...runs, keptRead, keptUnread, ...archived, ...unkeptRuns('snoozed', list)]
}

/** What is neither away by itself nor was kept by an archive-read; of the unread ones, without those that were marked so. */
function readAndUnreadRuns(list: List, unmarked: string): Run[] {
  const { engine, status, hasCategoryMarks } = list
  const isByCategory = engine === 'sqlite' || hasCategoryMarks
  const through = ({ of }: Run) => (of === 'each' ? coveredThrough(list, 'wanted.category') : readThrough)
  if (status === 'unread')
    return unkeptRuns('unread', list, { isByCategory }).map((run) => ({ ...run, above: through(run) }))
  const read = unkeptRuns('read', list)
  const notReadAlone = unkeptRuns('unread', list, { isByCategory, more: unmarked })
  if (status === 'read') return [...read, ...notReadAlone.map((run) => ({ ...run, upTo: through(run) }))]
  const covered = unkeptRuns('unread', list)
  // Above the last read-all, PostgreSQL would pass over the dead entries of what an archive-read kept.
  const upTo = `${dialects[engine].least}(${archiveThrough}, ${readThrough})`
  const hasBound = status === 'archived' && !hasCategoryMarks
  return [...read, ...(hasBound ? covered.map((run) => ({ ...run, upTo })) : covered)]
}

const tableOf = (engine: Engine, { index }: Run) => `notification n ${dialects[engine].indexedBy(index)}`

function seqsIn(engine: Engine, run: Run, beside = ''): string {
  return `select n.seq from ${beside}${tableOf(engine, run)} where ${run.where}`
}

/** One bound at each end: of two SQLite would use one for the index, and compare each notification with the other. */
function isBetween(engine: Engine, { seq, above, upTo }: Run, { low, below }: { low?: string; below: string }): string {
  const { greatest, least } = dialects[engine]
  const lowest = [low, above && `${above} + 1`].filter((bound) => bound !== undefined)
  const highest = upTo === undefined ? below : `${least}(${below}, ${upTo} + 1)`
  if (lowest.length === 0) return `${seq} < ${highest}`
  return `${seq} >= ${lowest.length === 1 ? lowest[0] : `${greatest}(${lowest})`} and ${seq} < ${highest}`
}

/** Expressions: the page has `taken` notifications below a sequence number, after `skipped` others. */
type Place = { low?: string; below: string; taken: string; skipped: string }

/** The sequence numbers of a page. With `low` only those from it on: so few that each run is read without a limit. */
export function listSql(engine: Engine, shape: Shape, { taken, skipped, ...range }: Place): string {
  const runs = runsOf({ ...shape, engine }).map((run) => {
    const bounds = isBetween(engine, run, range)
    if (range.low !== undefined)
      return `${seqsIn(engine, run, run.of === 'each' ? 'wanted cross join ' : '')} and ${bounds}`
    // By category too, or PostgreSQL would take the primary key, and pass over all that have one.
    const order = run.of === 'none' ? 'n.category desc, n.seq' : run.seq
    const seqs = `${seqsIn(engine, run)} and ${bounds} order by ${order} desc limit ${taken} + ${skipped}`
    return run.of === 'each' ? dialects[engine].each(seqs) : `select seq from (${seqs}) one`
  })
  return `with wanted as (${wantedSql({ ...shape, engine })})
    select seq from (${runs.join(' union all ')}) page order by seq desc limit ${taken} offset ${skipped}`
}

type Range = { low: string; below: string; max: string }

/** How many notifications of the list have a sequence number from `low` to below `below`; `max` if there are more. */
export function countSql(engine: Engine, shape: Shape, { max, ...range }: Range): string {
  const runs = runsOf({ ...shape, engine }).map((run) => {
    const from = tableOf(engine, run)
    const where = `${run.where} and ${isBetween(engine, run, range)}`
    return run.of === 'each' ? dialects[engine].countEach(from, where) : `select 1 from ${from} where ${where}`
  })
  return `with wanted as (${wantedSql({ ...shape, engine })})
    select count(*) as count from (${runs.join(' union all ')} limit ${max}) one`
}
