// The SQL that finds the notifications of a list with a filter or among gaps, on both engines. They lie in runs, such as the unread ones of a
// category: each run is a range of one index, in the order of the list, of which a page reads no more than its size. To find the place of
// a numbered page, the index entries above it are counted (decision 0073). `$1` is the user, and `box` the row of the inbox.
import type { Filter } from './inbox-state.ts'
import { coversSql } from './read-at.ts'

/** `hasAway`: some notifications are or were archived, or are snoozed. Otherwise a list has everything. */
export type Shape = { status: Filter['status']; hasCategories: boolean; hasCategoryMarks: boolean; hasAway: boolean }

/** `categories`: reads those of the filter. `each` and `countEach`: the rows of a run for each category in `wanted`. */
type Dialect = {
  categories: string
  each: (run: string) => string
  countEach: (from: string, where: string) => string
  indexedBy: (index: string) => string
  greatest: string
  least: string
  noneOf: (seqs: string) => string
}

const dialects = {
  sqlite: {
    categories: 'select value as category from json_each($5)',
    each: (run) =>
      `select one.value as seq from wanted cross join json_each((select json_group_array(seq) from (${run}))) one`,
    countEach: (from, where) => `select 1 from wanted cross join ${from} where ${where}`,
    // SQLite would take the primary key instead of an index of read notifications.
    indexedBy: (index) => `indexed by ${index}`,
    greatest: 'max',
    least: 'min',
    noneOf: (seqs) => `n.seq not in (${seqs})`,
  },
  postgres: {
    categories: 'select category from unnest($4::text[]) category',
    each: (run) => `select one.seq from wanted cross join lateral (${run}) one`,
    // Without `offset 0`, PostgreSQL may read all categories and choose among the rows.
    countEach: (from, where) =>
      `select 1 from wanted cross join lateral (select from ${from} where ${where} offset 0) one`,
    indexedBy: () => '',
    greatest: 'greatest',
    least: 'least',
    // An array, so that the index of the other notifications has all that is read.
    noneOf: (seqs) => `n.seq <> all (array(${seqs}))`,
  },
} satisfies Record<string, Dialect>

const field = (name: string) => `(select ${name} from box)`
const readThrough = field('read_through')
const readVersion = field('read_version')
const archiveThrough = field('archive_through')
const archiveVersion = field('archive_version')
const versionBefore = `(select m.before_version from archive_mark m where m.user_id = $1 and m.version = ${archiveVersion})`

/**
 * Rows `n` of notification, those above a sequence number or up to one. `seq`: the expression that bounds them. `isOfEach`: the run is repeated
 * for each category in `wanted`.
 */
type Run = { index: string; isOfEach?: boolean; seq: string; where: string; above?: string; upTo?: string }

type Engine = keyof typeof dialects

/** What a list reads besides `notification n`: the categories of its runs. */
function wantedSql(engine: Engine, { status, hasCategories }: Shape): string {
  if (hasCategories) return dialects[engine].categories
  return `select category from inbox_category where user_id = $1 and ${status === 'unread' ? 'unread' : 'total'} > 0`
}

/** No read-all covers what lies above, and at or below only what was marked as unread is not covered. */
function coveredThrough(engine: Engine, { hasCategoryMarks }: Shape, category: string): string {
  if (!hasCategoryMarks) return readThrough
  return `${dialects[engine].greatest}(${readThrough}, coalesce((
    select max(m.through_seq) from category_read_mark m where m.user_id = $1 and m.category = ${category}), 0))`
}

/** The notifications that a read-all covered and that were marked as unread since: few, and in no order. */
function markedRun(engine: Engine, shape: Shape): Run {
  const isUncovered = `and (n.seq > ${readThrough} or n.unread_version >= ${readVersion})
    and not exists (select 1 from category_read_mark m where ${coversSql('$1')})`
  const since = shape.hasCategoryMarks ? `> 0 ${isUncovered}` : `>= ${readVersion}`
  const isOfCategories = shape.hasCategories ? 'and n.category in (select category from wanted)' : ''
  // Not by seq itself: PostgreSQL would take the primary key, and pass over all notifications.
  return {
    index: 'notification_marked_unread',
    seq: 'n.seq + 0',
    where: `n.user_id = $1 and n.unread_version ${since} and n.seq + 0 <= ${coveredThrough(engine, shape, 'n.category')} ${isOfCategories}`,
  }
}

type Kept = 'kept_read' | 'kept_unread'

/**
 * What stayed in the list at the last archive-read, or was put back since; or, `isEarlier`, at the one before, and is archived by the last one.
 * An archive-read leaves no others.
 */
function keptRun(kept: Kept, { hasCategories }: Shape, { isEarlier = false, more = '' } = {}): Run {
  return {
    index: `notification_${kept}`,
    seq: 'n.seq',
    where: `n.user_id = $1 and n.kept_version = ${isEarlier ? versionBefore : archiveVersion} and ${isKept[kept]}
      ${hasCategories ? 'and n.category in (select category from wanted)' : ''} ${more}`,
  }
}

const isKept = { kept_read: 'n.read_at is not null', kept_unread: 'n.read_at is null' }

/** What is away from the list by itself, not by an archive-read. */
function awayRun(status: 'archived' | 'snoozed', { hasCategories }: Shape): Run {
  return {
    index: `notification_away${hasCategories ? '_by_category' : ''}`,
    isOfEach: hasCategories,
    seq: 'n.seq',
    where: `n.user_id = $1 and n.away = '${status}' ${hasCategories ? 'and n.category = wanted.category' : ''}`,
  }
}

function runsOf(engine: Engine, shape: Shape): Run[] {
  const { status, hasAway } = shape
  if (status === 'snoozed') return [awayRun('snoozed', shape)]
  const marked = markedRun(engine, shape)
  const unmarked = `and ${dialects[engine].noneOf(seqsIn(engine, marked))}`
  const isMarked = status === 'unread' ? [marked] : []
  const runs = [...unkeptRuns(engine, shape, unmarked), ...isMarked]
  if (!hasAway && status !== 'archived') return runs
  const isCovered = `n.seq <= ${coveredThrough(engine, shape, 'n.category')}`
  const [keptRead, keptUnread] = [keptRun('kept_read', shape), keptRun('kept_unread', shape)]
  const earlier = [keptRun('kept_read', shape, { isEarlier: true }), keptRun('kept_unread', shape, { isEarlier: true })]
  const above = (run: Run): Run => ({ ...run, above: archiveThrough })
  const upTo = (run: Run): Run => ({ upTo: archiveThrough, ...run })
  if (status === 'unread') return [...runs, keptRun('kept_unread', shape, { more: `and not ${isCovered} ${unmarked}` })]
  if (status === 'read')
    return [...runs.map(above), keptRead, keptRun('kept_unread', shape, { more: `and ${isCovered} ${unmarked}` })]
  if (status === 'inbox') return [...runs.map(above), keptRead, keptUnread]
  if (status === 'archived') return [...runs.map(upTo), ...earlier, awayRun('archived', shape)]
  return [...runs, keptRead, keptUnread, ...earlier, awayRun('archived', shape), awayRun('snoozed', shape)]
}

/** What is neither away by itself nor was kept by an archive-read; of the unread ones, without those that were marked so. */
function unkeptRuns(engine: Engine, shape: Shape, unmarked: string): Run[] {
  const { status, hasCategories, hasCategoryMarks } = shape
  const run = (isRead: boolean, of: 'all' | 'each' | 'none', more = ''): Run => ({
    index: `notification_${isRead ? 'read' : 'unread'}${of === 'all' ? '' : '_by_category'}`,
    isOfEach: of === 'each',
    seq: 'n.seq',
    where: `n.user_id = $1 ${{ all: '', each: 'and n.category = wanted.category', none: 'and n.category is null' }[of]}
      and n.read_at is ${isRead ? 'not null and n.away is ' : ''}null and n.kept_version is null ${more}`,
  })
  const all = hasCategories ? 'each' : 'all'
  // Above the last read-all, PostgreSQL would pass over the dead entries of what an archive-read kept.
  const upTo = `${dialects[engine].least}(${archiveThrough}, ${readThrough})`
  const covered = run(false, all)
  if (status === 'archived') return [run(true, all), hasCategoryMarks ? covered : { ...covered, upTo }]
  if (status !== 'unread' && status !== 'read') return [run(true, all), covered]
  const notReadAlone = (of: 'all' | 'each' | 'none', through: string): Run => ({
    ...run(false, of, status === 'unread' ? '' : unmarked),
    ...(status === 'unread' ? { above: through } : { upTo: through }),
  })
  const isByCategory = hasCategories || hasCategoryMarks
  return [
    notReadAlone(isByCategory ? 'each' : 'all', coveredThrough(engine, shape, 'wanted.category')),
    ...(isByCategory && !hasCategories ? [notReadAlone('none', readThrough)] : []),
    ...(status === 'unread' ? [] : [run(true, all)]),
  ]
}

const tableOf = (engine: Engine, { index }: Run) => `notification n ${dialects[engine].indexedBy(index)}`

function seqsIn(engine: Engine, run: Run): string {
  return `select n.seq from ${tableOf(engine, run)} where ${run.where}`
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
type Place = { below: string; taken: string; skipped: string }

/** The sequence numbers of a page. */
export function listSql(engine: Engine, shape: Shape, { below, taken, skipped }: Place): string {
  const runs = runsOf(engine, shape).map((run) => {
    const seqs = `${seqsIn(engine, run)} and ${isBetween(engine, run, { below })}
      order by ${run.seq} desc limit ${taken} + ${skipped}`
    return run.isOfEach ? dialects[engine].each(seqs) : `select seq from (${seqs}) one`
  })
  return `with wanted as (${wantedSql(engine, shape)})
    select seq from (${runs.join(' union all ')}) page order by seq desc limit ${taken} offset ${skipped}`
}

type Range = { low: string; below: string; max: string }

/** How many notifications of the list have a sequence number from `low` to below `below`; `max` if there are more. */
export function countSql(engine: Engine, shape: Shape, { max, ...range }: Range): string {
  const runs = runsOf(engine, shape).map((run) => {
    const from = tableOf(engine, run)
    const where = `${run.where} and ${isBetween(engine, run, range)}`
    return run.isOfEach ? dialects[engine].countEach(from, where) : `select 1 from ${from} where ${where}`
  })
  return `with wanted as (${wantedSql(engine, shape)})
    select count(*) as count from (${runs.join(' union all ')} limit ${max}) one`
}
