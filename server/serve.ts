// The one place where the parts are put together: start, drain, stop. What a signal means, and what is printed, is the
// business of commands/serve.ts.

import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { Clock, type TimeSources } from './clock.ts'
import type { Config } from './config/settings.ts'
import { CarillonError } from './errors.ts'
import { createApp } from './http/app.ts'
import { drain } from './http/connections/drain.ts'
import type { Cookie, Readiness } from './http/dependencies.ts'
import { SignInLog } from './http/routes/sign-in-log.ts'
import { Deliveries } from './inbox/delivery/deliver.ts'
import { Inbox } from './inbox/inbox.ts'
import { ChangesSince } from './inbox/live/changes.ts'
import { Live } from './inbox/live/live.ts'
import { StreamLimits } from './inbox/live/stream-limits.ts'
import { type AddressRange, parseRange } from './ip-addresses.ts'
import type { Log } from './log.ts'
import { nameHasher } from './sign-in/name-hash.ts'
import { Passwords } from './sign-in/password/passwords.ts'
import { ProducerKeys } from './sign-in/producer-key.ts'
import { Sessions } from './sign-in/session.ts'
import { AccessTokens, revocationKeptForMs } from './sign-in/token/access-token.ts'
import { TokenRevocations } from './sign-in/token/revocations.ts'
import { SigningKeys } from './sign-in/token/signing-keys.ts'
import { findableUsername } from './sign-in/users/username.ts'
import { refuseLostDatabase } from './start/database-file.ts'
import { type FirstSignIn, firstStart } from './start/first-start.ts'
import { sealingSecret } from './start/sealing-secret.ts'
import { openStore } from './store/open.ts'
import type { Store } from './store/store.ts'

export type Service = {
  url: string
  store: Store
  /** Where the store was empty: what its first user and first producer sign in with. */
  firstSignIn: FirstSignIn | undefined
  /** Resolves, with the reason, when the service cannot go on; `stop` it then. */
  failed: Promise<Error>
  /** Drains and stops; resolves when everything is let go of. */
  stop(): Promise<void>
}

const hourMs = 3_600_000
/** A node may be started before its PostgreSQL, or during a failover. */
const databaseTimeoutMs = 30_000
/** A load balancer that asked for readiness this recently will ask again. */
const watchedWithinMs = 10_000
/** The size of libuv's pool, as libuv itself reads it. */
const threads = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '', 10) || 4

/** Opens the store, puts the parts together and listens. Throws CarillonError with a sentence where it cannot. */
export async function startService(
  config: Config,
  { log, clock }: { log: Log; clock?: TimeSources },
): Promise<Service> {
  refuseLostDatabase(config.database)
  const { store, migrations, notice } = await openStore(config.database, {
    partitions: config.databasePartitions,
    startTimeout: {
      timeoutMs: databaseTimeoutMs,
      onWait: (reason) =>
        log.warn(
          { event: 'store-awaited', reason },
          `waiting for the database, at most ${databaseTimeoutMs / 1_000} s`,
        ),
    },
  })
  if (notice !== undefined) log.warn({ event: 'log-set-aside' }, notice)
  for (const migration of migrations) log.info({ event: 'migration', migration }, 'migration applied')
  try {
    // The database's clock if it has one: every process that serves it then has the same.
    const sources = clock ?? { wall: store.clock ?? Date.now, monotonic: () => performance.now() }
    return await startOn(store, config, { log, clock: new Clock(sources, (aheadMs) => warnOfSetBack(log, aheadMs)) })
  } catch (error) {
    await store.close()
    throw error
  }
}

function warnOfUrl({ publicUrl, database }: Config, url: string, log: Log): void {
  if (publicUrl === undefined && database.engine === 'postgres')
    log.warn(
      { event: 'public-url-missing', url },
      'CARILLON_PUBLIC_URL is not set: the access tokens of this process are refused by every other',
    )
  if (!url.startsWith('https:'))
    log.warn(
      { event: 'plain-http', url },
      'plain HTTP: the session cookie goes without Secure. Fit for this machine only',
    )
}

function warnOfSetBack(log: Log, aheadMs: number): void {
  log.warn(
    { event: 'clock-set-back', aheadMs },
    'The clock was set back. Lifetimes are counted on from the latest time that was seen. If the clock is right now, restart ' +
      'every process of the service; if it is wrong, correct it: timedatectl set-ntp true',
  )
}

async function startOn(store: Store, config: Config, { log, clock }: { log: Log; clock: Clock }): Promise<Service> {
  const { now, wall } = clock
  let url = config.publicUrl ?? ''
  const isHttps = url.startsWith('https:')
  const passwords = new Passwords({ threads })
  const secret = await sealingSecret(config, store)
  const keys = await SigningKeys.open({ store, secret, now })
  const signInLog = new SignInLog({ log, nameHash: nameHasher(secret) })
  const revocations = await TokenRevocations.load({ store, now, wall, keepMs: revocationKeptForMs }, (error) =>
    log.error({ event: 'cutoffs-not-read', err: error }, 'token cutoffs not read'),
  )
  const sessions = new Sessions({ store, now, idleMs: config.sessionIdleMs, lifetimeMs: config.sessionLifetimeMs })
  const accessTokens = new AccessTokens({
    keys,
    revocations,
    now,
    issuer: () => url,
    lifetimeMs: config.tokenLifetimeMs,
    chainMs: config.tokenChainMs,
  })
  const producerKeys = new ProducerKeys({ store, now })
  const inbox = new Inbox({ store, now: wall })
  const { live, changes, endStreams } = listening(store, config, { log, now })
  revocations.onRevocation((userId) => live.checkProofs(userId))
  const deliveries = new Deliveries({ store, now, wall, prepareUsername: findableUsername })
  const readiness = { isReady: false, askedAt: Number.NEGATIVE_INFINITY }
  const app = createApp({
    store,
    passwords,
    sessions,
    accessTokens,
    keys,
    variant: config.variant,
    cookie: cookieOf(config, isHttps),
    signInLog,
    trustedProxies: config.trustedProxies.map((text) => parseRange(text) as AddressRange),
    producerKeys,
    inbox,
    live,
    changes,
    deliveries,
    readiness,
    ...namesOf(config),
    isHttps,
    log,
  })
  const address = await listen(app, config)
  if (config.publicUrl === undefined) url = reachable(address)
  warnOfUrl(config, url, log)
  // Not before it listens: what is made here is shown once, by a service that stands.
  const firstSignIn = config.firstStart
    ? await firstStart({
        store,
        passwords,
        producerKeys,
        deliveries,
        passwordMinLength: config.passwordMin,
        now,
      }).catch(async (error: unknown) => {
        await app.close()
        throw error
      })
    : undefined
  readiness.isReady = true

  const tidying = tidyHourly({ sessions, deliveries }, log)

  return {
    url,
    store,
    firstSignIn,
    failed: store.failed,
    async stop() {
      readiness.isReady = false
      clearInterval(tidying)
      await drain(app, { graceMs: graceMsFor(config, readiness), endStreams })
      signInLog.end()
      await store.close()
    },
  }
}

/** The origins and host names that the operator named. */
function namesOf({ publicUrl, host, allowedHosts, allowedOrigins, hstsSubdomains }: Config) {
  const hosts = [publicUrl === undefined ? host : new URL(publicUrl).hostname, ...allowedHosts]
  return { allowedOrigins, hosts, hstsSubdomains }
}

/** The time that a load balancer needs to see that this process is not ready; 0 if none watches. */
function graceMsFor({ drainGraceMs }: Config, { askedAt }: Readiness): number {
  return performance.now() - askedAt < Math.max(watchedWithinMs, 2 * drainGraceMs) ? drainGraceMs : 0
}

function cookieOf({ sessionLifetimeMs }: Config, isHttps: boolean): Cookie {
  return { name: isHttps ? '__Host-carillon' : 'carillon', isSecure: isHttps, lifetimeMs: sessionLifetimeMs }
}

function tidyHourly(parts: { sessions: Sessions; deliveries: Deliveries }, log: Log): NodeJS.Timeout {
  const failed = (error: unknown) =>
    log.warn({ event: 'tidying-failed', err: error }, 'tidying failed; it is tried again in an hour')
  const tidy = () => {
    Promise.all([parts.sessions.removeStale(), parts.deliveries.removeOld()]).catch(failed)
  }
  tidy()
  return setInterval(tidy, hourMs).unref()
}

/** Those who follow their inboxes, by a stream or a held poll. */
function listening(store: Store, config: Config, { log, now }: { log: Log; now: () => number }) {
  const random = Math.random
  const streamLimits = new StreamLimits({ perUser: config.streamsPerUser, perProcess: config.streams }, random)
  const onFailure = (error: unknown) =>
    log.warn({ event: 'stream-not-read', err: error }, 'the store was not read for a stream; it is tried again')
  const live = new Live({ store, now, streamLimits, random, onFailure })
  const changes = new ChangesSince({ store, streamLimits })
  const endStreams = () => {
    changes.end()
    return live.end()
  }
  return { live, changes, endStreams }
}

/** On one address, also where a name has several: Fastify would serve the others by servers that drain no request. */
async function listen(app: ReturnType<typeof createApp>, config: Config): Promise<string> {
  try {
    const { address } = await lookup(config.host)
    return await app.listen({ host: address, port: config.port })
  } catch (error) {
    throw notListening(config, error)
  }
}

/** Why the service could not listen, and what to set. Any other error stays as it is. */
function notListening({ host, port }: Config, error: unknown): unknown {
  const place = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  const sentences: Record<string, string> = {
    EADDRINUSE: `${place} is taken by another program. Stop that one, or set CARILLON_PORT to a free port.`,
    EACCES: `${place} may not be listened on by this user. Set CARILLON_PORT to a port from 1024 on.`,
    EADDRNOTAVAIL: `${host} is no address of this machine. Set CARILLON_HOST to one that is.`,
    ENOTFOUND: `${host} is no name that this machine can resolve. Set CARILLON_HOST to one that is, or to an address.`,
  }
  const sentence = sentences[(error as NodeJS.ErrnoException).code ?? '']
  return sentence === undefined ? error : new CarillonError('UNAVAILABLE', sentence, { cause: error })
}

/** Every interface has no address of its own; this machine reaches it under the loopback's. */
function reachable(address: string): string {
  return address.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]')
}
