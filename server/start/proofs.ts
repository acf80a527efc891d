import type { Clock } from '../basics/clock.ts'
import { messageOf } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { Config } from '../config/settings.ts'
import type { Demonstration } from '../demonstration/child.ts'
import { ForeignTokens } from '../issuers/foreign-tokens.ts'
import type { HashCost, Passwords } from '../passwords/passwords.ts'
import { Provider } from '../providers/provider.ts'
import { makePushKey } from '../reach/push/pushes.ts'
import { Sessions } from '../sessions/sessions.ts'
import { recordOnce } from '../sessions/sign-ins.store.ts'
import type { Store } from '../store/store.ts'
import { AccessTokens } from '../tokens/access-token.ts'
import { FactorPolicy } from '../tokens/factor-policy.ts'
import { TokenRevocations } from '../tokens/revocations.ts'
import { isSignedByUs, SignatureChecks } from '../tokens/signature-checks.ts'
import { SigningKeys } from '../tokens/signing-keys.ts'
import { makeErasedKey, recogniserOf } from '../users/erasure/erased-ids.ts'
import { type Cookies, refuseWithoutPasskeys } from './site.ts'

export type Observed = <Part extends object>(name: string, part: Part) => Part

export type Environment = {
  log: Log
  clock: Clock
  aged: () => Promise<number>
  random: () => number
  hashCost?: HashCost | undefined
  /** Without a setting, known when the service listens. */
  url: () => string
  demonstration?: Demonstration | undefined
  own?: OwnParts
}

/** A sandbox's scripts would share the browser's storage. */
type OwnParts = { passwords: Passwords; cookies: Cookies; observed: Observed; cachedTokens: number }

type Given = Environment & { sealing: Sealing; observed: Observed }

/** Throws UNAVAILABLE if the secret opens no signing key, or demanded passkeys are impossible. */
export async function composeProofs(store: Store, config: Config, given: Given) {
  const { log, clock, aged, url, own, sealing, observed } = given
  const { sessionLifetimeMs: lifetimeMs, tokenChainMs: chainMs, issuers } = config
  const { now, wall } = clock
  const onKeyFailure = (err: unknown) =>
    log.error(
      { event: 'signing-keys-not-read', err },
      'the signing keys could not be read or replaced; retrying',
    )
  const schedule = { now, lifetimeMs: config.signingKeyLifetimeMs, onFailure: onKeyFailure }
  const keys = observed('keys', await SigningKeys.open({ store, sealing, ...schedule }))
  await makeErasedKey(store, sealing)
  await makePushKey(store, sealing)
  const erased = recogniserOf({ store, aged, config }, async () => sealing)
  // A start fails if the secret does not fit.
  await erased()
  const onReadFailure = (error: unknown) =>
    log.error(
      { event: 'revocations-not-read', err: error },
      'the token revocations could not be read; retrying',
    )
  const revocations = observed(
    'revocations',
    await TokenRevocations.load({ store, now, wall, recordOnce }, onReadFailure),
  )
  const { secondFactor: rule, secondFactorGraceMs: graceMs } = config
  refuseWithoutPasskeys(config)
  const policy = await FactorPolicy.open({ store, now, rule, graceMs })
  const limits = { idleMs: config.sessionIdleMs, lifetimeMs, maxPerUser: config.sessionsPerUser }
  const sessions = observed(
    'sessions',
    new Sessions({ store, revocations, now, policy, ...limits }),
  )
  const onFailure = (issuer: string, error: unknown) =>
    log.warn(
      { event: 'issuer-failed', issuer, reason: messageOf(error) },
      'the keys of an issuer could not be read',
    )
  const ofIssuers = { issuers, store, revocations, erased, now, onFailure }
  const foreign = issuers.length > 0 ? new ForeignTokens(ofIssuers) : undefined
  void foreign?.prefetch()
  const signatures = observed('signatures', new SignatureChecks(isSignedByUs))
  const rules = {
    issuer: url,
    lifetimeMs: config.tokenLifetimeMs,
    chainMs,
    maxCached: own?.cachedTokens,
  }
  const tokens = new AccessTokens({ keys, revocations, now, policy, foreign, signatures, ...rules })
  const signInLifetimes = { stateful: lifetimeMs, stateless: chainMs }
  const onRefusal = (provider: string, reason: string) =>
    log.warn({ event: 'provider-failed', provider, reason }, 'a sign-in with a provider failed')
  const providers = new Map(
    config.providers.map((one) => [one.name, new Provider(one, { now, onFailure: onRefusal })]),
  )
  return {
    keys,
    revocations,
    erased,
    policy,
    sessions,
    signInLifetimes,
    providers,
    accessTokens: observed('accessTokens', tokens),
  }
}
