// Creates and connects every object of the service. serve.ts opens the store and listens.
import { hostname } from 'node:os'
import { AuditLines } from './audit/audit-lines.ts'
import { SignInLog } from './audit/sign-in-log.ts'
import { counts } from './basics/counts.ts'
import { nameHasher, Sealing } from './basics/secrets.ts'
import { displayVersion } from './basics/version.ts'
import type { Config } from './config/settings.ts'
import { Deliveries } from './delivery/deliver.ts'
import { Guesses, limitChanges } from './guessing/guesses.ts'
import { createApp } from './http/app.ts'
import type { Readiness } from './http/readiness.ts'
import { RequestCounts } from './http/response/request-counts.ts'
import { Inbox } from './inbox/inbox.ts'
import { ForgottenPasswords } from './links/forgotten.ts'
import { Live } from './live/live.ts'
import { StreamLimits } from './live/stream-limits.ts'
import { HourlyNumbers } from './metrics/hourly.ts'
import { RunningNode } from './metrics/nodes.ts'
import { operatorPageOf } from './operator/now.ts'
import { Exports } from './own-data/export.ts'
import { documentationOf } from './pages/docs/documentation.ts'
import { failurePage } from './pages/page.ts'
import { ServedScripts } from './pages/served-scripts.ts'
import { Passwords } from './passwords/passwords.ts'
import { ProducerKeys } from './producers/producer-key.ts'
import { Reach } from './reach/reach.ts'
import { apiOf, type Parts, routesWith } from './routes.ts'
import { firstStart, progressOf } from './start/first-start.ts'
import { composeNotices } from './start/notices.ts'
import { linkSettings, mailerOf, passwordRulesOf } from './start/password-settings.ts'
import { composeProofs, type Environment, type Observed } from './start/proofs.ts'
import { valuesOf } from './start/settings-entry.ts'
import { pageSettings, siteOf } from './start/site.ts'
import { removeEnded, Upkeep } from './start/upkeep.ts'
import type { Store } from './store/store.ts'
import { sealingSecrets, secretsIn } from './tokens/sealing-secret.ts'
import { readerOf } from './users/find-user.ts'
import { poster } from './webhooks/send.ts'
import { Webhooks } from './webhooks/work.ts'

export type Composition = Awaited<ReturnType<typeof compose>>

/** The size of libuv's pool, as libuv reads it. */
const threads = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '', 10) || 4

/** Throws UNAVAILABLE if the secret is absent or does not open the signing keys. */
export async function compose(store: Store, config: Config, environment: Environment) {
  const { log, clock, aged, own, url } = environment
  const { now } = clock
  const observed: Observed = own?.observed ?? ((_, part) => part)
  const lines = new AuditLines(log)
  // Marks and deliveries record no change by a user, so their writes have no limit.
  const unlimited: Store = Object.setPrototypeOf({ write: store.write }, store)
  limitChanges(store, now)
  lines.listen(store)
  const sealing = new Sealing(await sealingSecrets(config, store), () => secretsIn(config))
  const passwords = observed(
    'passwords',
    own?.passwords ?? new Passwords({ threads, cost: environment.hashCost }),
  )
  const guesses = new Guesses({ store, sealing, now })
  const producerKeys = new ProducerKeys({ store, now })
  const proofs = await composeProofs(store, config, { ...environment, sealing, observed })
  const { revocations, erased } = proofs
  const users = { store, passwords, ...passwordRulesOf(config, log), now, revocations, erased }
  const notifications = await composeNotifications(unlimited, config, {
    ...environment,
    proofs,
    sealing,
  })
  const { live, deliveries, webhooks } = notifications
  const signInLog = new SignInLog({ log, store, now, nameHash: nameHasher(sealing) })
  const links = linkSettings(config, url)
  const settings = pageSettings(config)
  const mails = {
    users,
    guesses,
    signInLog,
    log,
    links,
    sealing,
    lines,
    deliveries,
    unlimited,
    logo: settings.logo,
    policy: proofs.policy,
  }
  const { reach, ...written } = composeReach(store, config, environment, mails)
  const upkeep = new Upkeep({ store: unlimited, wall: clock.wall, aged, log, limits: config })
  const readiness: Readiness = { isReady: false, isKnown: false, askedAt: Number.NEGATIVE_INFINITY }
  const site = siteOf(config, url, own?.cookies)
  const published =
    own === undefined ? routesWith(settings.prefix) : apiOf(routesWith(settings.prefix))
  const numbers = composeNumbers(unlimited, config, {
    wall: clock.wall,
    passwords,
    ...notifications,
  })
  const { requestCounts, hourly, node } = numbers
  const parts: Parts = {
    hourly,
    node,
    site,
    store,
    sealing,
    readiness,
    producerKeys,
    users,
    guesses,
    signInLog,
    ...written,
    links,
    ...proofs,
    ...notifications,
    exports: new Exports(),
    unsubscribing: { store, sealing, now, wall: clock.wall },
    pages: pagesOf(store, settings, { isDemonstration: own !== undefined }),
    operatorPage: operatorPageOf(config, now),
    documentation: documentationOf(published, site),
  }
  const app = appOf(
    { routes: published, parts, site, log, requestCounts },
    environment,
    settings.prefix,
  )
  return {
    app,
    readiness,
    users,
    deliveries,
    upkeep,
    reach,
    webhooks,
    keys: proofs.keys,
    sessions: proofs.sessions,
    ...numbers,
    /** Fills an empty store; undefined if it has a user. */
    firstStart: () => firstStart({ users, producerKeys, deliveries, site }),
    tidy: () => tidyUp(store, config, environment, { proofs, deliveries, guesses, reach, upkeep }),
    endStreams() {
      notifications.inbox.endBulkActs()
      webhooks.endWaits()
      return live.end()
    },
    async end() {
      proofs.keys.end()
      await written.forgotten?.end()
      await Promise.all([reach.end(), webhooks.end(), upkeep.end()])
      for (const counted of [signInLog, lines]) counted.end()
      await signInLog.stored()
      await Promise.all([hourly.end(), node.end()])
    },
  }
}

type Tidied = Pick<Parts, 'deliveries' | 'guesses'> & {
  proofs: Awaited<ReturnType<typeof composeProofs>>
  reach: Reach
  upkeep: Upkeep
}

async function tidyUp(store: Store, config: Config, environment: Environment, parts: Tidied) {
  const { clock, aged } = environment
  const { proofs, deliveries, guesses, reach, upkeep } = parts
  const { now } = clock
  await Promise.all([
    proofs.sessions.removeStale(),
    proofs.keys.tend(),
    deliveries.removeOld(await aged()),
    guesses.removeOld(),
    reach.tidy(aged),
    removeEnded(store, config, { now, aged }),
    upkeep.sweep(),
  ])
  counts.tidiedAt = clock.wall()
}

type Counting = {
  wall: () => number
  passwords: Pick<Passwords, 'waiting'>
  streamLimits: StreamLimits
}

function composeNumbers(store: Store, config: Config, { wall, passwords, streamLimits }: Counting) {
  const isDisplayed = pageSettings(config).hasOperatorPage || config.metricsPort !== undefined
  const requestCounts = isDisplayed ? new RequestCounts() : undefined
  const hashesWaiting = () => passwords.waiting
  const streamsOpen = () => streamLimits.open
  const hourly = new HourlyNumbers({
    store,
    wall,
    requests: requestCounts,
    streamsOpen,
    hashesWaiting,
  })
  const { engine } = config.database
  const node = new RunningNode({
    store,
    wall,
    // SQLite has one process.
    id: engine === 'sqlite' ? engine : `${hostname()}:${process.pid}`,
    name: hostname(),
    settings: { version: displayVersion(), ...valuesOf(config) },
    mostStreams: () => streamLimits.most,
  })
  return { requestCounts, hashesWaiting, streamsOpen, hourly, node }
}

type MailNeeds = Omit<ConstructorParameters<typeof ForgottenPasswords>[0], 'outbox'> &
  Pick<Parts, 'deliveries' | 'sealing' | 'policy'> &
  Pick<Parts['pages'], 'logo'> & { lines: AuditLines; unlimited: Store }

/** Without a mail server, no forgotten password is reset. */
function composeReach(store: Store, config: Config, environment: Environment, needs: MailNeeds) {
  const { sealing, lines, guesses, deliveries, unlimited, logo, policy, ...others } = needs
  const send = mailerOf(config, environment.url)
  const reach = new Reach({ store: unlimited, config, ...environment, sealing, policy, logo, send })
  const { outbox } = reach
  const forgotten = outbox && new ForgottenPasswords({ ...others, guesses, outbox })
  forgotten?.registerAt(reach)
  const notices = composeNotices(store, config, {
    ...environment,
    lines,
    guesses,
    deliveries,
    reach,
  })
  return { reach, forgotten, notices, pushes: reach.pushes }
}

type Served = Parameters<typeof createApp<Parts>>[0]

function appOf(served: Served, { own, demonstration }: Environment, prefix: string) {
  const app = createApp<Parts>({ ...served, ...(own === undefined && { failurePage }) })
  demonstration?.addTo(app, prefix, served.site)
  return app
}

type Origin = { isDemonstration: boolean }

function pagesOf(
  store: Store,
  settings: ReturnType<typeof pageSettings>,
  { isDemonstration }: Origin,
): Parts['pages'] {
  return {
    ...settings,
    // A sandbox of the demonstration has no operator.
    hasOperatorPage: settings.hasOperatorPage && !isDemonstration,
    scripts: new ServedScripts(),
    readerOf: (caller) => readerOf({ store }, caller),
    ...progressOf(store),
  }
}

type Filling = Environment & { proofs: Awaited<ReturnType<typeof composeProofs>>; sealing: Sealing }

async function composeNotifications(store: Store, config: Config, environment: Filling) {
  const { log, clock, random, proofs, sealing } = environment
  const { now, wall } = clock
  const streamLimits = new StreamLimits(
    { perUser: config.streamsPerUser, perProcess: config.streams },
    random,
  )
  const allowsPrivate = config.outboundPrivate
  const outbound = { allowsPrivate, post: poster({ allowsPrivate }) }
  const webhooks = await Webhooks.open({
    store,
    sealing,
    now,
    random,
    log,
    streamLimits,
    ...outbound,
  })
  const onFailure = (error: unknown) =>
    log.warn(
      { event: 'stream-not-read', err: error },
      'the store could not be read for a stream; retrying',
    )
  const live = new Live({ store, now, streamLimits, random, onFailure })
  proofs.revocations.onRevocation((userId) => live.checkProofs(userId))
  proofs.keys.onDropped(() => live.checkEveryProof())
  return {
    streamLimits,
    webhooks,
    inbox: new Inbox({ store, now: wall }),
    preferences: { store, wall, mailUnread: config.smtpUrl && config.mailUnread },
    live,
    byKey: { store, wall, imageHosts: config.imageHosts },
    deliveries: new Deliveries({
      store,
      now,
      wall,
      erased: proofs.erased,
      issuers: config.issuers,
      imageHosts: config.imageHosts,
      mailUnread: config.smtpUrl && config.mailUnread,
      webhooks,
      pushDelayMs: config.pushDelayMs,
    }),
  }
}
