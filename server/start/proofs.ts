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
import { AccessTokens, revocationKeptForMs } from '../tokens/access-token.ts'
import { TokenRevocations } from '../tokens/revocations.ts'
import { isSignedByUs, SignatureChecks } from '../tokens/signature-checks.ts'
import { SigningKeys } from '../tokens/signing-keys.ts'

type Surroundings = {
  log: Log
  clock: Clock
  url: () => string
  sealing: Sealing
  /** Returns the same part, whose calls the demonstration may note. */
  observed: <Part extends object>(name: string, part: Part) => Part
  /** How many verified tokens are remembered, if it is not the usual number. */
  cachedTokens?: number | undefined
}

/** Throws UNAVAILABLE if the secret does not open the signing keys. */
export async function composeProofs(
  store: Store,
  config: Config,
  { log, clock, url, sealing, observed, cachedTokens: maxCached }: Surroundings,
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
  const onFailure = (issuer: string, error: unknown) =>
    log.warn({ event: 'issuer-failed', issuer, reason: messageOf(error) }, 'the keys of an issuer could not be read')
  const foreign = issuers.length > 0 ? new ForeignTokens({ issuers, store, revocations, now, onFailure }) : undefined
  void foreign?.prefetch()
  const lifetimes = { lifetimeMs: config.tokenLifetimeMs, chainMs }
  const signatures = observed('signatures', new SignatureChecks(isSignedByUs))
  const tokens = new AccessTokens({ keys, revocations, now, issuer: url, ...lifetimes, foreign, signatures, maxCached })
  const signInLifetimes = { stateful: lifetimeMs, stateless: chainMs }
  return { keys, revocations, sessions, signInLifetimes, accessTokens: observed('accessTokens', tokens) }
}

export function composeProviders({ providers }: Config, { log, clock: { now } }: Pick<Surroundings, 'log' | 'clock'>) {
  const onFailure = (provider: string, reason: string) =>
    log.warn({ event: 'provider-failed', provider, reason }, 'a sign-in with a provider failed')
  return new Map(providers.map((setting) => [setting.name, new Provider(setting, { now, onFailure })]))
}
