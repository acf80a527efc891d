import { Command } from 'commander'
import { iso, isoOrNull } from '../../basics/clock.ts'
import { examineDatabase } from '../../doctor/store/database.ts'
import { mostStreams } from '../../metrics/nodes.store.ts'
import { countIn, freeBytesOf, growthOf, type Point, seriesOf } from '../../metrics/series.ts'
import { largestInboxes, newestByProducer, rowsOfTables } from '../../metrics/stats.store.ts'
import { heardSince } from '../../operator/heard.ts'
import { namesOf } from '../../users/display-user.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import { type Output, print, table } from '../terminal/output.ts'

const help = `
It reads whole tables, which takes seconds for a large database, and changes nothing. The growth is that of the days on which
a service ran; it is known after two of them.`

/** `--json` has all. */
const maxShown = 20

export function makeCommand(): Command {
  const command = new Command('stats').description(
    'Say what the database holds, how it grows, and whether work is behind',
  )
  return withSettings(command).addHelpText('after', help).action(onStore(stats))
}

async function stats(place: Place, options: Output): Promise<void> {
  const found = await statsOf(place)
  print(options, found, () => linesOf(found))
}

async function statsOf({ store, config, now }: Place) {
  const month = await seriesOf(store, 'month', now())
  const freeBytes = freeBytesOf(config.database)
  const { kibPerDay, fullAt } = growthOf(month, { now: now(), freeBytes })
  const { findings } = await examineDatabase(config.database, now, 'quick')
  const largest = await store.read(largestInboxes)
  const streams = await store.read(mostStreams, now())
  const names = await namesOf(
    store,
    [...largest, ...streams].map(({ userId }) => userId),
  )
  const named = <Row extends { userId: string }>(row: Row) => {
    return { ...row, name: names.get(row.userId) ?? row.userId }
  }
  return {
    freeBytes,
    kibPerDay,
    fullAt: isoOrNull(fullAt),
    days: month.slice(-2).map(sentOn),
    rows: await store.read(rowsOfTables),
    largestInboxes: largest.map(named),
    mostStreams: streams.map(named),
    newestByProducer: await store.read(newestByProducer),
    heard: await heardSince(store, now()),
    work: findings.filter(({ check }) => ['background work', 'outbox', 'mails'].includes(check)),
  }
}

function sentOn(point: Point) {
  return {
    since: iso(point.at),
    deliveries: countIn(point, 'deliveries'),
    recipients: countIn(point, 'recipients'),
  }
}

function linesOf(found: Awaited<ReturnType<typeof statsOf>>): string[] {
  const { kibPerDay, fullAt } = found
  const growth =
    kibPerDay === null ? 'its growth is known after two days' : `it grows by ${kibPerDay} KiB a day`
  const full = fullAt === null ? '' : `; the disk is full around ${fullAt.slice(0, 10)}`
  const counted = [
    ...found.rows.map(({ name, rows: count }) => ({ of: 'rows', name, count })),
    ...found.largestInboxes.map(({ name, notifications: count }) => {
      return { of: 'largest inboxes', name, count }
    }),
    ...found.mostStreams.map(({ name, streams: count }) => ({ of: 'most streams', name, count })),
    ...found.newestByProducer.map(({ producer: name, notifications: count }) => {
      return { of: 'newest 20,000 by', name, count }
    }),
  ]
  return [
    `database: ${growth}${full}`,
    ...found.days.map(
      (day) => `since ${day.since}: ${day.deliveries} deliveries to ${day.recipients} recipients`,
    ),
    ...found.work.map(({ check, found: state }) => `${check}: ${state}`),
    ...table(counted, { '': 'of', NAME: 'name', COUNT: 'count' }),
    ...table(found.heard.items.slice(0, maxShown), {
      'SENT BY': 'producer',
      CATEGORY: 'category',
      DELIVERED: 'delivered',
      MUTED: 'muted',
      SEEN: 'seen',
      READ: 'read',
      ARCHIVED: 'archived',
    }),
  ]
}
