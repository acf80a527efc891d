// Creates every object of the service from a store and the settings, and connects them. serve.ts opens the store and listens.
import { AuditLines } from './audit/audit-lines.ts'
import { SignInLog } from './audit/sign-in-log.ts'
import type { Clock } from './basics/clock.ts'
import type { Log } from './basics/log.ts'
import { nameHasher, Sealing } from './basics/secrets.ts'
import type { Config } from './config/settings.ts'
import { Deliveries } from './delivery/deliver.ts'
import type { Demonstration } from './demonstration/child.ts'
import { Guesses, limitChanges } from './guessing/guesses.ts'
import { createApp } from './http/app.ts'
import type { Readiness } from './http/health.routes.ts'
import { Inbox } from './inbox/inbox.ts'
import { ForgottenPasswords } from './links/forgotten.ts'
import { ChangesSince } from './live/changes.ts'
import { Live } from './live/live.ts'
import { StreamLimits } from './live/stream-limits.ts'
import { documentationOf } from './pages/docs/docs.routes.ts'
import { failurePage } from './pages/page.ts'
import { ServedScripts } from './pages/served-scripts.ts'
import { type HashCost, Passwords } from './passwords/passwords.ts'
import { ProducerKeys } from './producers/producer-key.ts'
import { apiOf, type Parts, routesWith } from './routes.ts'
import { firstStart } from './start/first-start.ts'
import { composeNotices } from './start/notices.ts'
import { breachesOf, linkSettings, mailerOf } from './start/password-settings.ts'
import { composeProofs, type Observed } from './start/proofs.ts'
import { sealingSecrets, secretsIn } from './start/sealing-secret.ts'
import { type Cookies, pageSettings, siteOf } from './start/site.ts'
import { removeEnded, Upkeep } from './start/upkeep.ts'
import type { Store } from './store/store.ts'
import type { Recogniser } from './users/erased-ids.ts'
import { listUsers } from './users/users.store.ts'
import { readerOf } from './users/users.ts'

type Environment = {
  log: Log
  clock: Clock
  /** The time by which rows are removed (start/removal-clock.ts). */
  aged: () => Promise<number>
  random: () => number
  hashCost?: HashCost | undefined
  /** The public URL; without the setting it is known only after the service listens. */
  url: () => string
  demonstration?: Demonstration | undefined
  own?: OwnParts
}

/** What a world of the demonstration brings. It has the API alone: scripts of its pages would share the browser's storage with ours. */
type OwnParts = { passwords: Passwords; cookies: Cookies; observed: Observed; cachedTokens: number }

export type Composition = Awaited<ReturnType<typeof compose>>

/** The size of libuv's pool, as libuv itself reads it. */
const threads = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '', 10) || 4

/** Throws UNAVAILABLE if the secret is absent or does not open the signing keys. */
export async function compose(store: Store, config: Config, environment: Environment) {
  const { log, clock, aged, own, url, demonstration } = environment
  const { now } = clock
  const observed: Observed = own?.observed ?? ((_, part) => part)
  const lines = new AuditLines(log)
  // Marks and deliveries record no change by a user, so their writes have no limit.
  const unlimited: Store = Object.setPrototypeOf({ write: store.write }, store)
  limitChanges(store, now)
  store.onRecorded(async (entries) => {
    for (const entry of entries) lines.write(entry)
  })
  const sealing = new Sealing(await sealingSecrets(config, store), () => secretsIn(config))
  const passwords = observed('passwords', own?.passwords ?? new Passwords({ threads, cost: environment.hashCost }))
  const guesses = new Guesses({ store, sealing, now })
  const producerKeys = new ProducerKeys({ store, now })
  const proofs = await composeProofs(store, config, { ...environment, sealing, observed, cached: own?.cachedTokens })
  const rules = { passwordMinLength: config.passwordMin, breaches: breachesOf(config, log) }
  const { revocations, erased } = proofs
  const users = { store, passwords, ...rules, now, revocations, erased }
  const notifications = composeNotifications(unlimited, config, { ...environment, erased })
  const { live, changes, deliveries } = notifications
  proofs.revocations.onRevocation((userId) => {
    live.checkProofs(userId)
    changes.checkProofs(userId)
  })
  proofs.keys.onDropped(() => live.checkEveryProof())
  const signInLog = new SignInLog({ log, store, now, nameHash: nameHasher(sealing) })
  const links = linkSettings(config, url)
  const mail = mailerOf(config, url)
  const forgotten = mail && new ForgottenPasswords({ users, guesses, signInLog, log, links, send: mail })
  const notices = composeNotices(store, config, { ...environment, lines, guesses, deliveries, mail })
  const upkeep = new Upkeep({ store: unlimited, wall: clock.wall, aged, log, limits: config })
  const readiness: Readiness = { isReady: false, isKnown: false, askedAt: Number.NEGATIVE_INFINITY }
  const site = siteOf(config, url, own?.cookies)
  const settings = pageSettings(config)
  const published = own === undefined ? routesWith(settings.prefix) : apiOf(routesWith(settings.prefix))
  const parts: Parts = {
    site,
    store,
    sealing,
    readiness,
    producerKeys,
    users,
    guesses,
    signInLog,
    notices,
    links,
    forgotten,
    ...proofs,
    ...notifications,
    exports: new Set(),
    pages: {
      ...settings,
      scripts: new ServedScripts(),
      readerOf: (caller) => readerOf({ store }, caller),
      hasOneUser: async () => (await store.read(listUsers, { after: '', limit: 2 })).length === 1,
    },
    documentation: documentationOf(published, site),
  }
  const app = createApp<Parts>({ routes: published, parts, site, log, ...(own === undefined && { failurePage }) })
  demonstration?.addTo(app, settings.prefix, site)
  return {
    app,
    readiness,
    users,
    deliveries,
    upkeep,
    keys: proofs.keys,
    sessions: proofs.sessions,
    /** Fills an empty store; undefined if it has a user already. */
    firstStart: () => firstStart({ users, producerKeys, deliveries, site }),
    /** The work of each start and each hour. */
    async tidy() {
      const { sessions, keys } = proofs
      const others = [sessions.removeStale(), deliveries.removeOld(await aged()), guesses.removeOld(), keys.tend()]
      await Promise.all([...others, removeEnded(store, config, { now, aged }), upkeep.sweep()])
    },
    endStreams() {
      changes.end()
      return live.end()
    },
    /** Ends timers, sends the mails that wait, and writes what the sign-in log has counted so far, as lines and as rows. */
    async end() {
      proofs.keys.end()
      await Promise.all([forgotten?.end(), notices.end(), upkeep.end()])
      for (const counted of [signInLog, lines]) counted.end()
      await signInLog.stored()
    },
  }
}

/** What fills an inbox, and what sends it. */
function composeNotifications(store: Store, config: Config, environment: Environment & { erased: Recogniser }) {
  const { log, clock, random, erased } = environment
  const { now, wall } = clock
  const streamLimits = new StreamLimits({ perUser: config.streamsPerUser, perProcess: config.streams }, random)
  const onFailure = (error: unknown) =>
    log.warn({ event: 'stream-not-read', err: error }, 'the store could not be read for a stream; retrying')
  return {
    inbox: new Inbox({ store, now: wall }),
    preferences: { store, wall },
    live: new Live({ store, now, streamLimits, random, onFailure }),
    changes: new ChangesSince({ store, streamLimits, now }),
    byKey: { store, wall, imageHosts: config.imageHosts },
    deliveries: new Deliveries({ store, now, wall, erased, issuers: config.issuers, imageHosts: config.imageHosts }),
  }
}
