// Creates every object of the service from a store and the settings, and connects them. serve.ts opens the store and listens.
import { AuditLines } from './audit/audit-lines.ts'
import { SignInLog } from './audit/sign-in-log.ts'
import type { Clock } from './basics/clock.ts'
import type { Log } from './basics/log.ts'
import { nameHasher, Sealing } from './basics/secrets.ts'
import type { Config } from './config/settings.ts'
import type { Demonstration } from './demonstration/child.ts'
import { DeviceTokens } from './guessing/device-tokens.ts'
import { Guesses, limitChanges } from './guessing/guesses.ts'
import { createApp } from './http/app.ts'
import type { Readiness } from './http/health.routes.ts'
import { docsPath, documentationOf } from './pages/docs/docs.routes.ts'
import { failurePage } from './pages/page.ts'
import { ServedScripts } from './pages/served-scripts.ts'
import { type HashCost, Passwords } from './passwords/passwords.ts'
import { ProducerKeys } from './producers/producer-key.ts'
import { apiOf, type Parts, routesWith } from './routes.ts'
import { firstStart } from './start/first-start.ts'
import { composeNotices, composeNotifications } from './start/notifications.ts'
import { breachesOf, linksAndMails } from './start/password-settings.ts'
import { composeProofs, composeProviders } from './start/proofs.ts'
import { sealingSecrets, secretsIn } from './start/sealing-secret.ts'
import { type Cookies, pageSettings, siteOf } from './start/site.ts'
import { tidy } from './start/tidy.ts'
import { Upkeep } from './start/upkeep.ts'
import type { Store } from './store/store.ts'
import { hasOneUser, readerOf } from './users/users.ts'

type Environment = {
  log: Log
  clock: Clock
  random: () => number
  hashCost?: HashCost | undefined
  /** The public URL; without the setting it is known only after the service listens. */
  url: () => string
  demonstration?: Demonstration | undefined
  own?: OwnParts
}

/**
 * What a world of the demonstration has in place of the parts that a service makes for itself (demonstration/server/world.ts). It has
 * the API alone: scripts of its pages would share the browser's storage with ours.
 */
type OwnParts = {
  passwords: Passwords
  cookies: Cookies
  /** Returns the same part, whose calls are noted. */
  observed: Observed
  cachedTokens: number
}
type Observed = <Part extends object>(name: string, part: Part) => Part
const unobserved: Observed = (_, part) => part

export type Composition = Awaited<ReturnType<typeof compose>>

/** The size of libuv's pool, as libuv itself reads it. */
const threads = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '', 10) || 4

/** Throws UNAVAILABLE if the secret is absent or does not open the signing keys. */
export async function compose(store: Store, config: Config, environment: Environment) {
  const { log, clock, own, url, demonstration } = environment
  const { now } = clock
  const { observed = unobserved } = own ?? {}
  const lines = new AuditLines(log)
  // Marks and deliveries record no change by a user, so their writes have no limit.
  const unlimited: Store = Object.setPrototypeOf({ write: store.write }, store)
  limitChanges(store, now)
  store.onRecorded(lines.writeAll)
  const secrets = await sealingSecrets(config, store)
  const sealing = new Sealing(secrets, () => secretsIn(config))
  const passwords = observed('passwords', own?.passwords ?? new Passwords({ threads, cost: environment.hashCost }))
  const guesses = new Guesses({ store, sealing, now })
  const producerKeys = new ProducerKeys({ store, now })
  const proofs = await composeProofs(store, config, {
    ...environment,
    sealing,
    observed,
    cachedTokens: own?.cachedTokens,
  })
  const rules = { passwordMinLength: config.passwordMin, breaches: breachesOf(config, log) }
  const users = { store, passwords, ...rules, now, revocations: proofs.revocations }
  const notifications = composeNotifications(unlimited, config, environment)
  const { live, changes, deliveries } = notifications
  proofs.revocations.onRevocation((userId) => live.checkProofs(userId))
  proofs.keys.onDropped(() => live.checkEveryProof())
  const signInLog = new SignInLog({ log, store, now, nameHash: nameHasher(sealing) })
  const { sendMail: mail, ...mails } = linksAndMails(config, { users, guesses, signInLog, publicUrl: url, log })
  const notices = composeNotices(store, config, { ...environment, lines, guesses, deliveries, mail })
  const upkeep = new Upkeep({ store: unlimited, wall: clock.wall, log, limits: config })
  const readiness: Readiness = { isReady: false, askedAt: Number.NEGATIVE_INFINITY }
  const site = siteOf(config, url, own?.cookies)
  const settings = pageSettings(config)
  const published = own === undefined ? routesWith(settings.prefix) : apiOf(routesWith(settings.prefix))
  const parts: Parts = {
    ...{ site, store, sealing, readiness, producerKeys, users, guesses, signInLog, notices },
    ...proofs,
    ...notifications,
    ...mails,
    devices: new DeviceTokens(sealing),
    providers: composeProviders(config, environment),
    pages: {
      ...settings,
      scripts: new ServedScripts(),
      readerOf: (caller) => readerOf({ store }, caller),
      hasOneUser: () => hasOneUser({ store }),
    },
    documentation: documentationOf(published, { url, cookieName: site.cookie.name }),
  }
  const app = createApp<Parts>({ routes: published, parts, site, log, ...(own === undefined && { failurePage }) })
  demonstration?.addTo(app, settings.prefix, site)
  return {
    ...{ app, readiness, users, deliveries, upkeep, keys: proofs.keys, sessions: proofs.sessions },
    /** Fills an empty store; undefined if it has a user already. */
    firstStart: () => firstStart({ users, producerKeys, deliveries, docsPath: docsPath(url()) }),
    tidy: () => tidy(config, { store, clock, guesses, deliveries, upkeep, ...proofs }),
    endStreams() {
      changes.end()
      return live.end()
    },
    /** Ends timers, sends the mails that wait, and writes what the sign-in log has counted so far, as lines and as rows. */
    async end() {
      proofs.keys.end()
      await Promise.all([mails.forgotten?.end(), notices.end(), upkeep.end()])
      for (const counted of [signInLog, lines]) counted.end()
      await signInLog.stored()
    },
  }
}
