// Composes what proves who is calling: signing keys, token revocations, sessions, access tokens, and the providers.
import type { Clock } from '../basics/clock.ts'
import { messageOf } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { Config } from '../config/settings.ts'
import { ForeignTokens } from '../issuers/foreign-tokens.ts'
import { Provider } from '../providers/provider.ts'
import { Sessions } from '../sessions/sessions.ts'
import type { Store } from '../store/store.ts'
import { AccessTokens } from '../tokens/access-token.ts'
import { TokenRevocations } from '../tokens/revocations.ts'
import { isSignedByUs, SignatureChecks } from '../tokens/signature-checks.ts'
import { SigningKeys } from '../tokens/signing-keys.ts'
import { makeErasedKey, recogniserOf } from '../users/erased-ids.ts'

/** Returns the same part, whose calls a world of the demonstration notes. */
export type Observed = <Part extends object>(name: string, part: Part) => Part

/** `cached`: how many verified tokens are remembered. */
type Parts = {
  log: Log
  clock: Clock
  aged: () => Promise<number>
  url(): string
  sealing: Sealing
  observed: Observed
  cached: number | undefined
}

/** Throws UNAVAILABLE if the secret does not open the signing keys. */
export async function composeProofs(store: Store, config: Config, parts: Parts) {
  const { log, clock, aged, url, sealing, observed, cached: maxCached } = parts
  const { sessionLifetimeMs: lifetimeMs, tokenChainMs: chainMs, issuers } = config
  const { now, wall } = clock
  const onKeyFailure = (err: unknown) =>
    log.error({ event: 'signing-keys-not-read', err }, 'the signing keys could not be read or replaced; retrying')
  const schedule = { now, lifetimeMs: config.signingKeyLifetimeMs, onFailure: onKeyFailure }
  const keys = observed('keys', await SigningKeys.open({ store, sealing, ...schedule }))
  await makeErasedKey(store, sealing)
  const erased = recogniserOf({ store, aged, config }, async () => sealing)
  // A start fails if the secret does not fit.
  await erased()
  const onReadFailure = (error: unknown) =>
    log.error({ event: 'cutoffs-not-read', err: error }, 'the token revocations could not be read; retrying')
  const revocations = observed('revocations', await TokenRevocations.load({ store, now, wall }, onReadFailure))
  const limits = { idleMs: config.sessionIdleMs, lifetimeMs, maxPerUser: config.sessionsPerUser }
  const sessions = observed('sessions', new Sessions({ store, revocations, now, ...limits }))
  const onFailure = (issuer: string, error: unknown) =>
    log.warn({ event: 'issuer-failed', issuer, reason: messageOf(error) }, 'the keys of an issuer could not be read')
  const ofIssuers = { issuers, store, revocations, erased, now, onFailure }
  const foreign = issuers.length > 0 ? new ForeignTokens(ofIssuers) : undefined
  void foreign?.prefetch()
  const signatures = observed('signatures', new SignatureChecks(isSignedByUs))
  const rules = { issuer: url, lifetimeMs: config.tokenLifetimeMs, chainMs, maxCached }
  const tokens = new AccessTokens({ keys, revocations, now, foreign, signatures, ...rules })
  const signInLifetimes = { stateful: lifetimeMs, stateless: chainMs }
  const onRefusal = (provider: string, reason: string) =>
    log.warn({ event: 'provider-failed', provider, reason }, 'a sign-in with a provider failed')
  const providers = new Map(config.providers.map((one) => [one.name, new Provider(one, { now, onFailure: onRefusal })]))
  return {
    keys,
    revocations,
    erased,
    sessions,
    signInLifetimes,
    providers,
    accessTokens: observed('accessTokens', tokens),
  }
}
