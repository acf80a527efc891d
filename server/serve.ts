// Opens the store, listens and drains. commands/service/serve.ts handles signals.
import { lookup } from 'node:dns/promises'
import { hostname } from 'node:os'
import { recordLogged } from './audit/audit.store.ts'
import { auditEntry, serviceSource } from './audit/entry.ts'
import { newestRowAt } from './audit/time-seen.store.ts'
import { Clock, type TimeSources } from './basics/clock.ts'
import { messageOf } from './basics/errors.ts'
import type { Log } from './basics/log.ts'
import { type Composition, compose } from './compose.ts'
import type { Config } from './config/settings.ts'
import { isLoopback } from './config/values.ts'
import { Demonstration } from './demonstration/child.ts'
import { drain } from './http/connections.ts'
import { listenFailure } from './http/listen-failure.ts'
import { openStore } from './open-store.ts'
import type { HashCost } from './passwords/passwords.ts'
import { refuseLostDatabase } from './start/database-file.ts'
import type { FirstSignIn } from './start/first-start.ts'
import { RemovalClock } from './start/removal-clock.ts'
import { recordSettings } from './start/settings-entry.ts'
import { demonstrationSettings } from './start/site.ts'
import type { ChangeSignal } from './store/events.ts'
import type { Notice } from './store/migrations.ts'
import type { Store } from './store/store.ts'

export type Service = {
  listensOn: string
  url: string
  metricsUrl: string | undefined
  store: Store
  firstSignIn: FirstSignIn | undefined
  /** The caller must then `stop` the service. */
  failed: Promise<Error>
  stop(): Promise<void>
}

const hourMs = 3_600_000
/** A node may be started before its PostgreSQL, or during a failover. */
const databaseTimeoutMs = 30_000
/** A load balancer that asked will ask again. */
const watchedWithinMs = 10_000

type Surroundings = { log: Log; clock?: TimeSources; hashCost?: HashCost | undefined }

export async function startService(
  config: Config,
  { log, clock, hashCost }: Surroundings,
): Promise<Service> {
  const store = await openLogged(config, log)
  try {
    // A database's clock is the same for every process.
    const sources = clock ?? {
      wall: store.clock ?? Date.now,
      monotonic: performance.now.bind(performance),
    }
    const furthest = new Clock(sources, (aheadMs) => warnOfSetBack(log, aheadMs))
    return await serve(store, config, { log, clock: furthest, hashCost })
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openLogged(
  { database, databasePartitions: partitions }: Config,
  log: Log,
): Promise<Store> {
  refuseLostDatabase(database)
  const onWait = (reason: string) =>
    log.warn(
      { event: 'store-awaited', reason },
      `waiting for the database, at most ${databaseTimeoutMs / 1_000} s`,
    )
  const startTimeout = { timeoutMs: databaseTimeoutMs, onWait }
  const onNotice = ({ sentence, ...facts }: Notice) => log.warn(facts, sentence)
  const { store, migrations } = await openStore(database, { partitions, startTimeout, onNotice })
  store.onChange((signal) => noteReturn(signal, log), [])
  for (const migration of migrations)
    log.info({ event: 'migration', migration }, 'migration applied')
  return store
}

/** The connection for change signals is the first to notice that PostgreSQL is back. */
function noteReturn(signal: ChangeSignal, log: Log): void {
  if (signal.about !== 'anything' || signal.awayMs === undefined) return
  const { awayMs } = signal
  log.warn(
    { event: 'store-back', awayMs },
    `the database can be reached again, after ${Math.round(awayMs / 1_000)} s`,
  )
}

type Running = { log: Log; clock: Clock; hashCost: HashCost | undefined }

async function serve(store: Store, config: Config, running: Running): Promise<Service> {
  let url = config.publicUrl ?? ''
  const { log, clock } = running
  const removals = new RemovalClock({
    store,
    wall: clock.wall,
    log,
    newestAt: await store.read(newestRowAt),
  })
  const environment = { ...running, aged: removals.now, random: Math.random, url: () => url }
  const demonstration = demonstrationOf(config, environment)
  const composition = await compose(store, config, { ...environment, demonstration })
  // A refused start changes nothing. If this fails, nothing is removed.
  await removals.now().catch(() => {})
  const { app, readiness } = composition
  const listensOn = reachable(await listen(app, config))
  if (config.publicUrl === undefined) url = listensOn
  warnOfUrl(config, url, log)
  // The service must accept the first sign-in, which is displayed once.
  const closeAndThrow = async (error: unknown) => {
    await app.close()
    throw error
  }
  const metrics = await publishMetrics(composition, config, { ...running, store }).catch(
    closeAndThrow,
  )
  const backups = await scheduleBackups(config, { ...running, store })
  const firstSignIn = config.firstStart
    ? await composition.firstStart().catch(closeAndThrow)
    : undefined
  // The database may refuse writes for now.
  await recordSettings(store, config, clock.now).catch((error: unknown) => {
    const reason = messageOf(error)
    log.warn(
      { event: 'audit-not-stored', reason },
      'the settings could not be compared with those of the last start',
    )
  })
  readiness.isReady = true
  const cleanup = tidyHourly(store, composition, running)
  composition.upkeep.start()
  composition.reach.start()
  composition.webhooks.start()
  composition.hourly.start()
  composition.node.start()
  return {
    listensOn,
    url,
    metricsUrl: metrics?.url,
    store,
    firstSignIn,
    failed: store.failed,
    async stop() {
      readiness.isReady = false
      clearInterval(cleanup)
      const endStreams = async () => {
        await Promise.all([composition.endStreams(), demonstration?.end()])
      }
      // Load balancers have to notice that this process is not ready.
      const { drainGraceMs } = config
      const isWatched =
        performance.now() - readiness.askedAt < Math.max(watchedWithinMs, 2 * drainGraceMs)
      await drain(app, { graceMs: isWatched ? drainGraceMs : 0, endStreams })
      await Promise.all([composition.end(), backups?.end()])
      await metrics?.close()
      await store.close()
    },
  }
}

function demonstrationOf(
  config: Config,
  { log, url }: { log: Log; url: () => string },
): Demonstration | undefined {
  if (!demonstrationSettings(config).hasDemonstration) return undefined
  const {
    pagesPrefix: prefix,
    host,
    allowedHosts,
    hstsSubdomains,
    demonstrationPlaces: places,
  } = config
  const settings = () => ({
    url: url(),
    prefix,
    hosts: [host, ...allowedHosts],
    hstsSubdomains,
    places,
  })
  return new Demonstration(settings, log)
}

async function publishMetrics(
  composition: Composition,
  config: Config,
  { store, log, clock }: Running & { store: Store },
) {
  const { requestCounts: requests, keys, hashesWaiting, streamsOpen } = composition
  const { metricsPort: port, metricsHost: host, metricsToken: token } = config
  if (port === undefined || requests === undefined) return undefined
  const { openMetrics } = await import('./metrics/listener.ts')
  const sources = { store, requests, log, now: clock.wall, hashesWaiting, streamsOpen }
  return openMetrics(
    { host, port, token },
    { ...sources, random: Math.random, signingSince: () => keys.signingSince },
  )
}

/** An unusable folder must not keep users away. */
async function scheduleBackups(config: Config, { store, log, clock }: Running & { store: Store }) {
  const { backupAtMs: atMs, backupDir: folder, backupKeep: keep, database } = config
  if (atMs === undefined || folder === undefined) return undefined
  const { folderFault, ScheduledBackups } = await import('./backups/schedule.ts')
  const reason = folderFault(folder)
  if (reason !== undefined)
    log.error(
      { event: 'backup-folder-unusable', folder, reason },
      'no backup can be made in CARILLON_BACKUP_DIR',
    )
  const backups = new ScheduledBackups({
    store,
    database,
    log,
    wall: clock.wall,
    node: hostname(),
    schedule: { atMs, folder, keep },
  })
  void backups.run()
  return backups
}

function tidyHourly(store: Store, { tidy }: Composition, { log, clock }: Running): NodeJS.Timeout {
  const event = 'tidying-failed'
  const run = () => {
    tidy().catch((err: unknown) => {
      log.warn(
        { event, err },
        'old rows or signing keys could not be replaced; retrying in an hour',
      )
      store
        .write(recordLogged, [auditEntry(serviceSource, { event, at: clock.now() })])
        .catch(() => {})
    })
  }
  run()
  return setInterval(run, hourMs).unref()
}

function warnOfUrl({ publicUrl, database }: Config, url: string, log: Log): void {
  const warn = (event: string, sentence: string) => log.warn({ event, url }, sentence)
  if (publicUrl === undefined && database.engine === 'postgres')
    warn(
      'public-url-missing',
      'CARILLON_PUBLIC_URL is not set: other processes refuse the access tokens of this one',
    )
  if (!url.startsWith('https:') && !isLoopback(new URL(url).hostname))
    warn(
      'plain-http',
      'plain HTTP: the session cookie is sent without Secure. Use it on this machine only',
    )
}

function warnOfSetBack(log: Log, aheadMs: number): void {
  const sentence =
    'The clock was set back. Lifetimes continue from the latest time seen before. If the clock is correct now, restart ' +
    'every process of the service; if it is wrong, correct it: timedatectl set-ntp true'
  log.warn({ event: 'clock-set-back', aheadMs }, sentence)
}

/** Fastify's further servers are not drained. */
async function listen(app: Composition['app'], { host, port }: Config): Promise<string> {
  try {
    return await app.listen({ host: (await lookup(host)).address, port })
  } catch (cause) {
    throw listenFailure(cause, { host, port, settings: 'CARILLON_' })
  }
}

function reachable(address: string): string {
  return address.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]')
}
