// Each minute, writes what this process counted. After a failed write, an hour may count twice.
import { bucketBounds, counts, type Durations } from '../basics/counts.ts'
import { oneAtATime } from '../basics/event-loop.ts'
import { type RequestCounts, statusClasses } from '../http/response/request-counts.ts'
import type { Store } from '../store/store.ts'
import { addHourly, type Hourly, sizeNow } from './hourly.store.ts'

export const hourMs = 3_600_000
const everyMs = 60_000
const mebibyte = 2 ** 20

/** `requests`: undefined if nothing displays it. */
type Sources = {
  store: Store
  wall: () => number
  requests: RequestCounts | undefined
  streamsOpen: () => number
  hashesWaiting: () => number
}
type Numbers = Readonly<Record<string, number>>

export class HourlyNumbers {
  readonly #sources: Sources
  #written: Numbers
  #writtenAt = Number.NEGATIVE_INFINITY
  #gauges: Numbers = {}
  #hour = 0
  #timer: NodeJS.Timeout | undefined

  constructor(sources: Sources) {
    this.#sources = sources
    this.#written = { ...totalsOf(sources), starts: 0 }
  }

  start(): void {
    this.#timer = setInterval(() => void this.write().catch(() => {}), everyMs).unref()
  }

  async write(ms = 0): Promise<void> {
    if (this.#sources.wall() >= this.#writtenAt + ms) await this.#writeOnce()
  }

  readonly #writeOnce = oneAtATime(() => this.#write())

  /** A service without its database loses the last minute. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.write().catch(() => {})
  }

  async #write(): Promise<void> {
    const { store, wall } = this.#sources
    const at = wall()
    const hour = Math.floor(at / hourMs)
    const gauges = await gaugesOf(this.#sources)
    const totals = totalsOf(this.#sources)
    const highest = this.#hour === hour ? this.#gauges : {}
    const risen = Object.entries(totals).map(([name, total]) => {
      return { name, hour, count: total - (this.#written[name] ?? 0), max: 0 }
    })
    const higher = Object.entries(gauges)
      .filter(([name, max]) => max > (highest[name] ?? 0))
      .map(([name, max]) => ({ name, hour, count: 0, max }))
    const rows: Hourly[] = [...risen.filter(({ count }) => count > 0), ...higher]
    if (rows.length > 0) await store.write(addHourly, rows)
    this.#written = totals
    this.#writtenAt = at
    this.#hour = hour
    this.#gauges = { ...highest, ...Object.fromEntries(higher.map(({ name, max }) => [name, max])) }
  }
}

async function gaugesOf({ store, streamsOpen, hashesWaiting }: Sources): Promise<Numbers> {
  const { bytes, waiting } = await store.read(sizeNow)
  const { files, waiting: writesWaiting } = store.numbers()
  return {
    'hashes-waiting': hashesWaiting(),
    'writes-waiting': writesWaiting,
    'streams-open': streamsOpen(),
    'outbox-waiting': waiting,
    'database-mib': Math.ceil(bytes / mebibyte),
    'log-mib': Math.ceil((files?.log ?? 0) / mebibyte),
  }
}

function totalsOf({ requests }: Sources): Numbers {
  const { signIns, deliveries, recipients, timers, outbox, streams } = counts
  const signInsThat = (outcome: keyof typeof signIns.password) =>
    sumOf(Object.values(signIns).map((outcomes) => outcomes[outcome]))
  return {
    starts: 1,
    'sign-ins-accepted': signInsThat('accepted'),
    'sign-ins-half': signInsThat('factor_required'),
    'sign-ins-refused': signInsThat('refused'),
    'sign-ins-delayed': signInsThat('delayed'),
    'proofs-refused': sumOf(Object.values(counts.refusedProofs)),
    deliveries: deliveries.delivered,
    'deliveries-failed': deliveries.failed,
    recipients: recipients.delivered + recipients.updated,
    'recipients-muted': recipients.muted,
    'recipients-unknown': recipients.unknown_recipient,
    acts: sumOf(Object.values(counts.acts)),
    'streams-opened': streams.opened,
    'stream-events': counts.streamEvents,
    timers: timers.due + timers.old + timers.excess,
    'mails-sent': outbox.mail.sent,
    'mails-failed': outbox.mail.failed,
    ...(requests && ofRequests(requests)),
  }
}

function ofRequests(requests: RequestCounts): Numbers {
  const byStatus = statusClasses.map((name, n) => {
    return [`requests-${name}`, sumOf(requests.all().map((one) => one.byStatus[n] ?? 0))] as const
  })
  return {
    ...Object.fromEntries(byStatus),
    ...bucketsOf('delivery', requests.durationsOf('POST', '/api/notifications')),
    ...bucketsOf('read', requests.durationsOf('GET', '/api/notifications')),
  }
}

function bucketsOf(name: string, durations: Durations | undefined): Numbers {
  if (durations === undefined) return {}
  const { buckets, count } = durations
  const all = [...buckets, count - sumOf(buckets)]
  return Object.fromEntries(all.map((inBucket, n) => [bucketName(name, n), inBucket]))
}

function bucketName(name: string, n: number): string {
  return `${name}-to-${bucketBounds[n] ?? 'any'}`
}

/** The bound is in milliseconds: 99 of 100 durations are below it; null without one. */
export function durationsIn(
  { numbers }: { numbers: ReadonlyMap<string, { count: number }> },
  name: string,
) {
  const buckets = [...bucketBounds, undefined].map(
    (_, n) => numbers.get(bucketName(name, n))?.count ?? 0,
  )
  const count = sumOf(buckets)
  let below = 0
  const index = buckets.findIndex((inBucket) => {
    below += inBucket
    return below >= 0.99 * count
  })
  const bound = bucketBounds[index] ?? Number(bucketBounds.at(-1))
  return { count, p99Ms: count === 0 ? null : 1_000 * bound }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}
