// Numbers are read when Prometheus asks, so requests only count. Labels come from closed lists.
import { lastBackupAt } from '../backups/backups.store.ts'
import { bucketBounds, counts, type Durations } from '../basics/counts.ts'
import { version } from '../basics/version.ts'
import { type RequestCounts, statusClasses } from '../http/response/request-counts.ts'
import type { Store } from '../store/store.ts'
import type { Drift } from './drift.ts'

type Labels = Readonly<Record<string, string>>
/** `metricName`: the name of a histogram's part. */
type Sample = { value: number; labels?: Labels; metricName?: string }
export type Family = {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  /** Empty for what the engine lacks. */
  samples: () => readonly Sample[] | Promise<readonly Sample[]>
}

/** Times are milliseconds since 1970. */
export type Sources = {
  store: Store
  requests: RequestCounts
  drift: Pick<Drift, 'checked' | 'found'>
  now: () => number
  hashesWaiting: () => number
  streamsOpen: () => number
  /** Throws if the node has no signing key. */
  signingSince: () => number
}

function counter(name: string, help: string, samples: Family['samples']): Family {
  return { name, help, type: 'counter', samples }
}

function gauge(name: string, help: string, samples: Family['samples']): Family {
  return { name, help, type: 'gauge', samples }
}

const one = (value: number): Sample[] => [{ value }]

function byLabel(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => ({ value, labels: { [label]: name } }))
}

function byOutcome(
  label: string,
  values: Readonly<Record<string, Readonly<Record<string, number>>>>,
): Sample[] {
  return Object.entries(values).flatMap(([name, outcomes]) =>
    byLabel('outcome', outcomes).map((sample) => ({
      ...sample,
      labels: { [label]: name, ...sample.labels },
    })),
  )
}

function timeOf(ms: number | undefined): Sample[] {
  return ms ? one(ms / 1_000) : []
}

function histogram(
  name: string,
  { buckets, count, sumMs }: Durations,
  labels: Labels = {},
): Sample[] {
  let below = 0
  const bounded = buckets.map((inBucket, n) => {
    below += inBucket
    return {
      value: below,
      labels: { ...labels, le: String(bucketBounds[n]) },
      metricName: `${name}_bucket`,
    }
  })
  return [
    ...bounded,
    { value: count, labels: { ...labels, le: '+Inf' }, metricName: `${name}_bucket` },
    { value: sumMs / 1_000, labels, metricName: `${name}_sum` },
    { value: count, labels, metricName: `${name}_count` },
  ]
}

export function familiesOf(sources: Sources): Family[] {
  return [
    ...ofRequests(sources),
    ...ofStore(sources),
    ...ofInboxes(sources),
    ...ofSignIns(sources),
    ...ofUpkeep(sources),
  ]
}

function ofRequests({ requests, hashesWaiting }: Sources): Family[] {
  const duration = 'carillon_http_request_duration_seconds'
  return [
    gauge('carillon_info', 'Always 1; its label is the version.', () => [
      { value: 1, labels: { version } },
    ]),
    counter(
      'carillon_http_requests_total',
      'Requests, by route, method and class of the status.',
      () =>
        requests.all().flatMap(({ route, method, byStatus }) =>
          byStatus
            .map((value, n) => ({
              value,
              labels: { route, method, status: statusClasses[n] ?? '' },
            }))
            .filter(({ value }) => value > 0),
        ),
    ),
    {
      name: duration,
      help: 'From the request to its response. Streams and held polls are not in it.',
      type: 'histogram',
      samples: () =>
        requests.all().flatMap(({ route, method, durations }) => {
          if (durations === undefined || durations.count === 0) return []
          return histogram(duration, durations, { route, method })
        }),
    },
    gauge('carillon_hashes_waiting', 'Password hashes that wait for their turn.', () =>
      one(hashesWaiting()),
    ),
  ]
}

function ofStore({ store }: Sources): Family[] {
  const duration = 'carillon_commit_duration_seconds'
  return [
    gauge('carillon_database_up', 'Whether the database can be read and written now: 1 or 0.', () =>
      store.check().then(
        () => one(1),
        () => one(0),
      ),
    ),
    gauge(
      'carillon_writes_waiting',
      'Writes that wait for a commit, on PostgreSQL for a connection.',
      () => one(store.numbers().waiting),
    ),
    counter(
      'carillon_writes_total',
      'Committed writes; divided by the commits, writes of one commit.',
      () => one(store.numbers().written),
    ),
    {
      name: duration,
      help: 'How long the commits took.',
      type: 'histogram',
      samples: () => histogram(duration, store.numbers().commits),
    },
    gauge('carillon_pool_connections', 'Connections of this process to PostgreSQL.', () =>
      byLabel('state', store.numbers().pool ?? {}),
    ),
    gauge('carillon_database_bytes', 'Size of the SQLite file and of its write-ahead log.', () =>
      byLabel('file', store.numbers().files ?? {}),
    ),
  ]
}

function ofInboxes({ streamsOpen, drift }: Sources): Family[] {
  return [
    counter('carillon_deliveries_total', 'Deliveries, by outcome.', () =>
      byLabel('outcome', counts.deliveries),
    ),
    counter('carillon_delivery_recipients_total', 'Recipients of deliveries, by outcome.', () =>
      byLabel('outcome', counts.recipients),
    ),
    counter('carillon_inbox_acts_total', 'What users did in their inboxes.', () =>
      byLabel('act', counts.acts),
    ),
    counter(
      'carillon_bulk_steps_total',
      'Steps of bulk acts, of at most 1,000 notifications each.',
      () => one(counts.bulkSteps),
    ),
    gauge('carillon_streams_open', 'Live streams and held polls that are open.', () =>
      one(streamsOpen()),
    ),
    counter('carillon_streams_total', 'Live streams and held polls, by outcome.', () =>
      byLabel('outcome', counts.streams),
    ),
    counter('carillon_stream_events_total', 'Events sent to streams.', () =>
      one(counts.streamEvents),
    ),
    counter('carillon_drift_checked_total', 'Inboxes that were counted again.', () =>
      one(drift.checked),
    ),
    gauge(
      'carillon_drift_inboxes',
      'Inboxes of the last sample whose counters differ from their rows.',
      () => one(drift.found),
    ),
  ]
}

function ofSignIns({ now, signingSince }: Sources): Family[] {
  return [
    counter('carillon_sign_ins_total', 'Sign-ins, by method and outcome.', () =>
      byOutcome('method', counts.signIns),
    ),
    counter(
      'carillon_refused_proofs_total',
      'Requests without a valid proof or without its scope, by what they presented.',
      () => byLabel('reason', counts.refusedProofs),
    ),
    gauge(
      'carillon_signing_key_age_seconds',
      'For how long the current key has signed access tokens.',
      () => one(Math.max(0, now() - signingSince()) / 1_000),
    ),
  ]
}

function ofUpkeep({ store }: Sources): Family[] {
  return [
    gauge(
      'carillon_last_backup_timestamp_seconds',
      'When the last scheduled backup succeeded; 0 if none did.',
      async () => {
        const at = await store.read(lastBackupAt)
        return at === undefined ? [] : one(at / 1_000)
      },
    ),
    counter(
      'carillon_upkeep_notifications_total',
      'Notifications that background work examined, by reason.',
      () => byLabel('reason', counts.timers),
    ),
    counter('carillon_timers_total', 'Timers of what is unread, by channel and outcome.', () =>
      byOutcome('channel', counts.reminders),
    ),
    counter('carillon_outbox_total', 'Attempts to send, by channel and outcome.', () =>
      byOutcome('channel', counts.outbox),
    ),
    gauge('carillon_last_tidy_timestamp_seconds', 'When the hourly work last succeeded.', () =>
      timeOf(counts.tidiedAt),
    ),
  ]
}
