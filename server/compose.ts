// Creates every object of the service from a store and the settings, and connects them. serve.ts opens the store and listens.

import { AuditLines } from './audit/audit-lines.ts'
import { auditedStore } from './audit/audited-store.ts'
import { type Notice, type NoticeOptions, Notices } from './mail/notices.ts'
import { OperatorLines } from './audit/operator-lines.ts'
import { SignInLog } from './audit/sign-in-log.ts'
import type { Clock } from './basics/clock.ts'
import { messageOf } from './basics/errors.ts'
import { newId } from './basics/ids.ts'
import { rangesOf } from './basics/ip-addresses.ts'
import { iso } from './basics/times.ts'
import type { Config } from './config/settings.ts'
import { Deliveries } from './delivery/deliver.ts'
import type { Worlds } from './demonstration/worlds.ts'
import { DelayedAccounts } from './guessing/delayed-accounts.ts'
import { DeviceTokens } from './guessing/device-tokens.ts'
import { Guesses } from './guessing/guesses.ts'
import { createApp } from './http/app.ts'
import type { Cookie, Readiness } from './http/dependencies.ts'
import { Inbox } from './inbox/inbox.ts'
import { ForeignTokens } from './issuers/foreign-tokens.ts'
import { ChangesSince } from './live/changes.ts'
import { Live } from './live/live.ts'
import { StreamLimits } from './live/stream-limits.ts'
import type { Log } from './basics/log.ts'
import { docsPath } from './pages/docs/docs.routes.ts'
import { type HashCost, Passwords } from './passwords/passwords.ts'
import { ProducerKeys } from './producers/producer-key.ts'
import type { ProviderDependencies } from './providers/accounts.ts'
import { Provider } from './providers/provider.ts'
import { nameHasher } from './sealing/name-hash.ts'
import { Sealing } from './sealing/sealing.ts'
import { Sessions } from './sessions/sessions.ts'
import { SignIns } from './sessions/sign-ins.ts'
import { type FirstSignIn, firstStart } from './start/first-start.ts'
import { pageSettings } from './start/page-settings.ts'
import { breachesOf, linksAndMails } from './start/password-settings.ts'
import { reportPreviousSecret } from './start/previous-secret.ts'
import { sealingSecrets, secretsIn } from './start/sealing-secret.ts'
import { removeKeptSecrets } from './start/secret-files.ts'
import { recordSettings } from './start/settings-entry.ts'
import type { Store } from './store/store.ts'
import { AccessTokens, revocationKeptForMs } from './tokens/access-token.ts'
import { TokenRevocations } from './tokens/revocations.ts'
import { SigningKeys } from './tokens/signing-keys.ts'
import { findableUsername } from './users/username.ts'
import type { UserDependencies } from './users/users.ts'

type Environment = {
  log: Log
  clock: Clock
  random: () => number
  hashCost?: HashCost | undefined
  /** The public URL; without the setting it is known only after the service listens. */
  url: () => string
  demonstration?: (() => Promise<Worlds>) | undefined
  own?: OwnParts
}

/** What a world of the demonstration has in place of the parts that a service makes for itself (start/demonstration.ts). */
export type OwnParts = {
  passwords: Passwords
  cookies: { cookie: Cookie; deviceCookie: Cookie }
  /** Returns the same part, whose calls are noted. */
  observed?: Observed
}
type Observed = <Part extends object>(name: string, part: Part) => Part
const unobserved: Observed = (_, part) => part

export type Composition = {
  app: ReturnType<typeof createApp>
  readiness: Readiness
  users: UserDependencies
  deliveries: Deliveries
  /** Fills an empty store; undefined if it has a user already. */
  firstStart(): Promise<FirstSignIn | undefined>
  /** Deletes ended sessions, old idempotency keys, old counts of guesses and old entries of the audit log, and replaces signing keys. */
  tidy(): Promise<unknown>
  /** Records in the audit log which settings changed since the last start. */
  recordSettings(): Promise<void>
  endStreams(): Promise<void>
  /** Ends timers, sends the mails that wait, and writes what the sign-in log has counted so far, as lines and as rows. */
  end(): Promise<void>
}

/** The size of libuv's pool, as libuv itself reads it. */
const threads = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '', 10) || 4

/** Throws UNAVAILABLE if the secret is absent or does not open the signing keys. */
export async function compose(bareStore: Store, config: Config, environment: Environment): Promise<Composition> {
  const { log, clock, own } = environment
  const { now, wall } = clock
  const { observed = unobserved } = own ?? {}
  let notices: Notices | undefined
  const lines = new AuditLines(log)
  const store = auditedStore(observed('store', bareStore), { lines, now, note: async (entry) => notices?.note(entry) })
  const secrets = await sealingSecrets(config, store)
  void reportPreviousSecret(store, secrets, log)
  const sealing = new Sealing(secrets, () => secretsIn(config))
  const passwords = observed('passwords', own?.passwords ?? new Passwords({ threads, cost: environment.hashCost }))
  const guesses = new Guesses({ store, sealing, now, delayedAccounts: new DelayedAccounts(store) })
  const producerKeys = new ProducerKeys({ store, now })
  const proofs = await composeProofs(store, config, { ...environment, sealing, observed })
  const rules = { passwordMinLength: config.passwordMin, breaches: breachesOf(config, log) }
  const users = { store, passwords, ...rules, now, revocations: proofs.revocations }
  const streams = composeStreams(store, config, environment)
  proofs.revocations.onRevocation((userId) => streams.live.checkProofs(userId))
  proofs.keys.onDropped(() => streams.live.checkEveryProof())
  const signInLog = new SignInLog({ log, rows: { store: bareStore, now }, nameHash: nameHasher(sealing) })
  const forLinks = { users, guesses, signInLog, publicUrl: environment.url, log }
  const { sendMail: mail, ...mails } = linksAndMails(config, forLinks)
  const deliveries = new Deliveries({ store, now, wall, prepareUsername: findableUsername, issuers: config.issuers })
  notices = composeNotices(store, config, { ...environment, lines, guesses, deliveries, mail })
  const readiness = { isReady: false, askedAt: Number.NEGATIVE_INFINITY }
  const app = createApp({
    store,
    passwords,
    guesses,
    devices: new DeviceTokens(sealing),
    users,
    ...mails,
    ...proofs,
    variant: config.variant,
    ...(own?.cookies ?? cookiesOf(config)),
    demonstration: environment.demonstration,
    hasPages: own === undefined,
    publicUrl: environment.url,
    signInLog,
    notices,
    newDeviceNotices: config.newDeviceNotices,
    factors: { store, sealing, guesses, now, publicUrl: environment.url },
    trustedProxies: rangesOf(config.trustedProxies),
    producerKeys,
    providers: composeProviders(store, config, { ...environment, sealing }),
    inbox: new Inbox({ store, now: wall }),
    ...streams,
    deliveries,
    readiness,
    ...namesOf(config),
    log,
  })
  return {
    app,
    readiness,
    users,
    deliveries,
    firstStart: () => firstStart({ users, producerKeys, deliveries, docsPath: docsPath(environment.url()) }),
    tidy: () =>
      Promise.all([
        proofs.sessions.removeStale(),
        deliveries.removeOld(),
        guesses.removeOld(),
        proofs.keys.tend(),
        removeOld(store, config, clock),
      ]),
    recordSettings: () => recordSettings(store, config, now),
    endStreams() {
      streams.changes.end()
      return streams.live.end()
    },
    async end() {
      proofs.keys.end()
      await Promise.all([mails.forgotten?.end(), notices?.end()])
      for (const counted of [signInLog, lines]) counted.end()
      await signInLog.stored()
    },
  }
}

async function composeProofs(
  store: Store,
  config: Config,
  { log, clock, url, sealing, observed }: Environment & { sealing: Sealing; observed: Observed },
) {
  const { sessionLifetimeMs: lifetimeMs, tokenChainMs: chainMs, issuers } = config
  const { now, wall } = clock
  const onKeyFailure = (error: unknown) =>
    log.error(
      { event: 'signing-keys-not-read', err: error },
      'the signing keys could not be read or replaced; retrying',
    )
  const schedule = { now, lifetimeMs: config.signingKeyLifetimeMs, onFailure: onKeyFailure }
  const keys = observed('keys', await SigningKeys.open({ store, sealing, ...schedule }))
  const onReadFailure = (error: unknown) =>
    log.error({ event: 'cutoffs-not-read', err: error }, 'the token revocations could not be read; retrying')
  const reading = { store, now, wall, keepMs: revocationKeptForMs }
  const revocations = observed('revocations', await TokenRevocations.load(reading, onReadFailure))
  const limits = { idleMs: config.sessionIdleMs, lifetimeMs, maxPerUser: config.sessionsPerUser }
  const sessions = observed('sessions', new Sessions({ store, revocations, now, ...limits }))
  const signIns = new SignIns({ store, sessions, revocations, now, lifetimeMs, chainMs })
  const onFailure = (issuer: string, error: unknown) =>
    log.warn({ event: 'issuer-failed', issuer, reason: messageOf(error) }, 'the keys of an issuer could not be read')
  const foreign = issuers.length > 0 ? new ForeignTokens({ issuers, store, revocations, now, onFailure }) : undefined
  void foreign?.prefetch()
  const lifetimes = { lifetimeMs: config.tokenLifetimeMs, chainMs }
  const tokens = new AccessTokens({ keys, revocations, now, issuer: url, ...lifetimes, foreign })
  return { keys, revocations, sessions, signIns, accessTokens: observed('accessTokens', tokens) }
}

function composeProviders(
  store: Store,
  { providers }: Config,
  { log, clock: { now }, sealing }: Environment & { sealing: Sealing },
): ProviderDependencies {
  const onFailure = (provider: string, reason: string) =>
    log.warn({ event: 'provider-failed', provider, reason }, 'a sign-in with a provider failed')
  const all = providers.map((setting) => [setting.name, new Provider(setting, { now, onFailure })] as const)
  return { store, now, sealing, all: new Map(all) }
}

function composeStreams(store: Store, config: Config, { log, clock, random }: Environment) {
  const streamLimits = new StreamLimits({ perUser: config.streamsPerUser, perProcess: config.streams }, random)
  const onFailure = (error: unknown) =>
    log.warn({ event: 'stream-not-read', err: error }, 'the store could not be read for a stream; retrying')
  const live = new Live({ store, now: clock.now, streamLimits, random, onFailure })
  return { live, changes: new ChangesSince({ store, streamLimits }) }
}

function composeNotices(
  store: Store,
  { pagesPrefix }: Config,
  environment: Environment & { deliveries: Deliveries; lines: AuditLines } & Pick<NoticeOptions, 'guesses' | 'mail'>,
) {
  const { log, url, clock, deliveries, guesses, mail, lines } = environment
  const { now, wall } = clock
  const deliver = async (userId: string, notice: Notice, idempotencyKey: string) => {
    const deliveryId = newId(now())
    const request = { recipients: [{ userId }], ...notice }
    return (await deliveries.deliver('carillon', request, { idempotencyKey, deliveryId })).deliveryId === deliveryId
  }
  const texts = async (locale: string | null) => (await import('./mail/notice-texts.ts')).noticeTexts(locale)
  const notices = new Notices({ store, deliver, pagesUrl: () => url() + pagesPrefix, log, guesses, mail, texts })
  new OperatorLines({ store, lines, now: wall, note: (entry) => notices.note(entry) })
  return notices
}

async function removeOld(store: Store, config: Config, { now, wall }: Clock) {
  const { database, auditRetentionMs } = config
  await Promise.all([store.removeExpiredLinks(now()), store.removeExpiredChallenges(now())])
  // In batches, so that no other write waits long.
  while ((await store.removeOldAudit(now() - auditRetentionMs)) > 0);
  if (database.engine === 'sqlite') removeKeptSecrets(database.path, iso(wall()).slice(0, 10))
}

function namesOf(config: Config) {
  const { publicUrl, host, allowedHosts, allowedOrigins, returnUrls, hstsSubdomains } = config
  const hosts = [publicUrl === undefined ? host : new URL(publicUrl).hostname, ...allowedHosts]
  const isHttps = publicUrl?.startsWith('https:') ?? false
  return { allowedOrigins, returnUrls, hosts, hstsSubdomains, isHttps, pages: pageSettings(config) }
}

/** Browsers keep no cookie for longer (RFC 6265bis, section 5.5). */
const deviceCookieLifetimeMs = 400 * 24 * 3_600_000

/** With a path, `__Secure-` and not `__Host-`, which requires `Path=/` (docs/decisions/0021-client-addresses.md). */
function cookiesOf({ publicUrl, sessionLifetimeMs }: Config): { cookie: Cookie; deviceCookie: Cookie } {
  const { protocol, pathname: path } = new URL(publicUrl ?? 'http://localhost')
  const isSecure = protocol === 'https:'
  const prefix = !isSecure ? '' : path === '/' ? '__Host-' : '__Secure-'
  return {
    cookie: { name: `${prefix}carillon`, path, isSecure, lifetimeMs: sessionLifetimeMs },
    deviceCookie: { name: `${prefix}carillon-device`, path, isSecure, lifetimeMs: deviceCookieLifetimeMs },
  }
}
