import { settingsChangedSince } from '../audit/audit.store.ts'
import { type ScheduledBackup, scheduledBackups } from '../backups/backups.store.ts'
import { durationsIn, type HourlyNumbers } from '../metrics/hourly.ts'
import { countIn, gaugeIn, growthOf, type Point, seriesOf } from '../metrics/series.ts'
import type { Store } from '../store/store.ts'
import { signingKeys } from '../tokens/signing-keys.store.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, sendVisible } from './operator.ts'

const freshMs = 10_000

export const numbers = forOperator({
  summary:
    'What happened in the last 24 hours or 30 days: sign-ins, deliveries, requests, streams, sizes',
  query: shapes.NumbersQuery,
  responses: { 200: shapes.NumbersResponse },
  async handle(needs: OperatorNeeds & { hourly: HourlyNumbers }, request, reply) {
    const { store, users, operatorPage } = needs
    const now = users.now()
    // A service without its database shows those of a minute ago.
    await needs.hourly.write(freshMs).catch(() => {})
    const month = await seriesOf(store, 'month', now)
    const points = request.query.range === 'month' ? month : await seriesOf(store, 'day', now)
    const database = growthOf(month, { now, freeBytes: operatorPage.freeBytes() })
    const backups = await store.read(scheduledBackups)
    const last = backups.find(({ bytes }) => bytes !== null)
    return sendVisible(reply, {
      points: points.map(rowOf),
      days: month.slice(-2).map(rowOf),
      marks: await marksOf(store, points, backups),
      database,
      lastBackup: last ? { endedAt: last.endedAt, node: last.node } : null,
    })
  },
})

function rowOf(point: Point) {
  const deliveries = durationsIn(point, 'delivery')
  const reads = durationsIn(point, 'read')
  return {
    at: point.at,
    accepted: countIn(point, 'sign-ins-accepted'),
    refused: countIn(point, 'sign-ins-refused'),
    delayed: countIn(point, 'sign-ins-delayed'),
    deliveries: countIn(point, 'deliveries'),
    reads: reads.count,
    deliveryP99Ms: deliveries.p99Ms,
    readP99Ms: reads.p99Ms,
    succeeded: countIn(point, 'requests-2xx') + countIn(point, 'requests-3xx'),
    rejected: countIn(point, 'requests-4xx'),
    failed: countIn(point, 'requests-5xx'),
    streams: gaugeIn(point, 'streams-open'),
    timers: countIn(point, 'timers'),
    outbox: gaugeIn(point, 'outbox-waiting'),
    databaseMib: gaugeIn(point, 'database-mib'),
    // PostgreSQL has none.
    logMib: point.numbers.get('log-mib')?.max ?? null,
  }
}

async function marksOf(
  store: Store,
  points: readonly Point[],
  backups: readonly ScheduledBackup[],
) {
  const since = points[0]?.at ?? 0
  const times = {
    start: points.filter((point) => countIn(point, 'starts') > 0).map(({ at }) => at),
    rotation: (await store.read(signingKeys)).map(({ startsAt }) => startsAt),
    backup: backups.flatMap(({ bytes, endedAt }) => (bytes === null ? [] : (endedAt ?? []))),
    settings: await store.read(settingsChangedSince, since),
  }
  const marks = Object.entries(times).flatMap(([kind, all]) => all.map((at) => ({ at, kind })))
  return marks.filter(({ at }) => at >= since).toSorted((one, other) => one.at - other.at)
}
