// Opens the store, listens, and drains at the end. compose.ts creates the objects in between; commands/serve.ts handles signals
// and prints.
import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { recordLogged } from './audit/audit.store.ts'
import { auditEntry, serviceSource } from './audit/entry.ts'
import { newestRowAt } from './audit/time-seen.store.ts'
import { Clock, type TimeSources } from './basics/clock.ts'
import { messageOf, unavailable } from './basics/errors.ts'
import type { Log } from './basics/log.ts'
import { type Composition, compose } from './compose.ts'
import type { Config } from './config/settings.ts'
import { isLoopback } from './config/values.ts'
import { Demonstration } from './demonstration/child.ts'
import { drain } from './http/connections.ts'
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
  /** The address at which this machine reaches it; `url` is the public URL if it is set. */
  listensOn: string
  url: string
  store: Store
  /** If the store was empty: the sign-in of its first user, and the key of its first producer. */
  firstSignIn: FirstSignIn | undefined
  /** Resolves with the reason when the service can no longer work; the caller must then `stop` it. */
  failed: Promise<Error>
  /** Drains and stops; resolves when everything is closed. */
  stop(): Promise<void>
}

const hourMs = 3_600_000
/** A node may be started before its PostgreSQL, or during a failover. */
const databaseTimeoutMs = 30_000
/** A load balancer that requested `/readyz` this recently will request it again. */
const watchedWithinMs = 10_000

type Surroundings = { log: Log; clock?: TimeSources; hashCost?: HashCost | undefined }

/** Throws CarillonError with a sentence for the operator if the service cannot start. */
export async function startService(config: Config, { log, clock, hashCost }: Surroundings): Promise<Service> {
  const store = await openLogged(config, log)
  try {
    // The database's clock, if it has one, is the same for every process of the service.
    const sources = clock ?? { wall: store.clock ?? Date.now, monotonic: performance.now.bind(performance) }
    const furthest = new Clock(sources, (aheadMs) => warnOfSetBack(log, aheadMs))
    return await serve(store, config, { log, clock: furthest, hashCost })
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openLogged({ database, databasePartitions: partitions }: Config, log: Log): Promise<Store> {
  refuseLostDatabase(database)
  const onWait = (reason: string) =>
    log.warn({ event: 'store-awaited', reason }, `waiting for the database, at most ${databaseTimeoutMs / 1_000} s`)
  const startTimeout = { timeoutMs: databaseTimeoutMs, onWait }
  const onNotice = ({ sentence, ...facts }: Notice) => log.warn(facts, sentence)
  const { store, migrations } = await openStore(database, { partitions, startTimeout, onNotice })
  store.onChange((signal) => noteReturn(signal, log), [])
  for (const migration of migrations) log.info({ event: 'migration', migration }, 'migration applied')
  return store
}

/** The connection for change signals is the first one that notices that PostgreSQL is back. */
function noteReturn(signal: ChangeSignal, log: Log): void {
  if (signal.about !== 'anything' || signal.awayMs === undefined) return
  const { awayMs } = signal
  log.warn({ event: 'store-back', awayMs }, `the database can be reached again, after ${Math.round(awayMs / 1_000)} s`)
}

type Running = { log: Log; clock: Clock; hashCost: HashCost | undefined }

async function serve(store: Store, config: Config, running: Running): Promise<Service> {
  let url = config.publicUrl ?? ''
  const { log, clock } = running
  const removals = new RemovalClock({ store, wall: clock.wall, log, newestAt: await store.read(newestRowAt) })
  const environment = { ...running, aged: removals.now, random: Math.random, url: () => url }
  const demonstration = demonstrationOf(config, environment)
  const composition = await compose(store, config, { ...environment, demonstration })
  // After all refusals of a start, which must change nothing. If this fails, nothing is removed before it succeeds.
  await removals.now().catch(() => {})
  const { app, readiness } = composition
  const listensOn = reachable(await listen(app, config))
  if (config.publicUrl === undefined) url = listensOn
  warnOfUrl(config, url, log)
  // After it listens: the first sign-in is displayed once, so the service must be able to accept it.
  const closeAndThrow = async (error: unknown) => {
    await app.close()
    throw error
  }
  const firstSignIn = config.firstStart ? await composition.firstStart().catch(closeAndThrow) : undefined
  // A service whose database refuses writes for now starts all the same.
  await recordSettings(store, config, clock.now).catch((error: unknown) => {
    const reason = messageOf(error)
    log.warn({ event: 'audit-not-stored', reason }, 'the settings could not be compared with those of the last start')
  })
  readiness.isReady = true
  const cleanup = tidyHourly(store, composition, running)
  composition.upkeep.start()
  return {
    listensOn,
    url,
    store,
    firstSignIn,
    failed: store.failed,
    async stop() {
      readiness.isReady = false
      clearInterval(cleanup)
      const endStreams = async () => {
        await Promise.all([composition.endStreams(), demonstration?.end()])
      }
      // For as long as a load balancer needs to notice that this process is not ready, if one watches it.
      const { drainGraceMs } = config
      const isWatched = performance.now() - readiness.askedAt < Math.max(watchedWithinMs, 2 * drainGraceMs)
      await drain(app, { graceMs: isWatched ? drainGraceMs : 0, endStreams })
      await composition.end()
      await store.close()
    },
  }
}

function demonstrationOf(config: Config, { log, url }: { log: Log; url: () => string }): Demonstration | undefined {
  if (!demonstrationSettings(config).hasDemonstration) return undefined
  const { pagesPrefix: prefix, host, allowedHosts, hstsSubdomains } = config
  return new Demonstration(() => ({ url: url(), prefix, hosts: [host, ...allowedHosts], hstsSubdomains }), log)
}

/** A failure is recorded, for doctor. */
function tidyHourly(store: Store, { tidy }: Composition, { log, clock }: Running): NodeJS.Timeout {
  const event = 'tidying-failed'
  const run = () => {
    tidy().catch((err: unknown) => {
      log.warn({ event, err }, 'old rows or signing keys could not be replaced; retrying in an hour')
      store.write(recordLogged, [auditEntry(serviceSource, { event, at: clock.now() })]).catch(() => {})
    })
  }
  run()
  return setInterval(run, hourMs).unref()
}

function warnOfUrl({ publicUrl, database }: Config, url: string, log: Log): void {
  const warn = (event: string, sentence: string) => log.warn({ event, url }, sentence)
  if (publicUrl === undefined && database.engine === 'postgres')
    warn('public-url-missing', 'CARILLON_PUBLIC_URL is not set: other processes refuse the access tokens of this one')
  if (!url.startsWith('https:') && !isLoopback(new URL(url).hostname))
    warn('plain-http', 'plain HTTP: the session cookie is sent without Secure. Use it on this machine only')
}

function warnOfSetBack(log: Log, aheadMs: number): void {
  const sentence =
    'The clock was set back. Lifetimes continue from the latest time seen before. If the clock is correct now, restart ' +
    'every process of the service; if it is wrong, correct it: timedatectl set-ntp true'
  log.warn({ event: 'clock-set-back', aheadMs }, sentence)
}

/** On one address, even if the name has several: for further addresses Fastify would create servers that are not drained. */
async function listen(app: Composition['app'], { host, port }: Config): Promise<string> {
  try {
    return await app.listen({ host: (await lookup(host)).address, port })
  } catch (cause) {
    const place = `${isIPv6(host) ? `[${host}]` : host}:${port}`
    const setHost = 'Set CARILLON_HOST to one that is'
    const reasons: Record<string, [problem: string, remedy: string]> = {
      EADDRINUSE: [`${place} is taken by another program`, 'Stop that one, or set CARILLON_PORT to a free port.'],
      EACCES: [`This user may not listen on ${place}`, 'Set CARILLON_PORT to a port from 1024 on.'],
      EADDRNOTAVAIL: [`${host} is not an address of this machine`, `${setHost}.`],
      ENOTFOUND: [`${host} is not a name that this machine can resolve`, `${setHost}, or to an address.`],
    }
    const [problem, remedy] = reasons[(cause as NodeJS.ErrnoException).code ?? ''] ?? []
    throw problem === undefined ? cause : unavailable(problem, remedy)
  }
}

/** The address that means every interface is not reachable itself; this machine uses the loopback address. */
function reachable(address: string): string {
  return address.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]')
}
