// One OpenID provider, by code flow with PKCE (OpenID Connect Core 1.0, RFC 7636). openid-client
// checks what these standards require.
import type { Configuration, IDToken } from 'openid-client'
import { boundedFetch } from '../basics/bounded-fetch.ts'
import { CarillonError, forbidden, overloaded } from '../basics/errors.ts'
import type { ProviderSetting } from '../config/providers.ts'
import type { ProvedFactor } from '../http/operation.ts'

/** RFC 6749 section 10.12, Core section 3.1.2.1, RFC 7636. */
export type Checks = { state: string; nonce: string; verifier: string }

/** `factor`: what the user proved there. `email`: only if verified there. */
export type Identity = {
  subject: string
  factor: ProvedFactor | undefined
  profile: () => Promise<{ displayName: string | null; email: string | null }>
}

type Dependencies = { now: () => number; onFailure: (provider: string, reason: string) => void }

/** openid-client reads the keys again. */
const metadataKeptForMs = 3_600_000
/** Clients cause only one request to an unreachable provider. */
const attemptEveryMs = 5_000
const logEveryMs = 60_000
const maxWaiting = 50
/** Core, section 2. */
const subjectShape = /^[\x20-\x7e]{1,255}$/
const clockToleranceSeconds = 60
/** At most this long ago, the user proved the factor at the provider. */
const factorMaxAgeSeconds = 3_600

export class Provider {
  readonly setting: ProviderSetting
  readonly #dependencies: Dependencies
  #metadata: { configuration: Promise<Configuration>; until: number } | undefined
  #loggedAt = Number.NEGATIVE_INFINITY
  #waiting = 0

  constructor(setting: ProviderSetting, dependencies: Dependencies) {
    this.setting = setting
    this.#dependencies = dependencies
  }

  async authorizationUrl(redirectUri: string, { state, nonce, verifier }: Checks): Promise<string> {
    return this.#guarded(async () => {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
      const configuration = await this.#configuration()
      refuseElsewhere(
        configuration.serverMetadata().authorization_endpoint ?? '',
        this.setting.origins,
      )
      return buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: this.setting.scopes.join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...this.#factorRequest(),
      }).href
    })
  }

  /** Throws FORBIDDEN (refusal, failed check), INVALID_REQUEST (used code) or UNAVAILABLE. */
  async identify(response: URL, { state, nonce, verifier }: Checks): Promise<Identity> {
    return this.#guarded(async () => {
      const client = await import('openid-client')
      const configuration = await this.#configuration()
      const tokens = await client.authorizationCodeGrant(configuration, response, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims() as IDToken
      const { sub: subject } = claims
      if (!subjectShape.test(subject))
        throw this.#failedCheck('the subject is not 1 to 255 ASCII characters')
      const userInfo = () => client.fetchUserInfo(configuration, tokens.access_token, subject)
      const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
      const profile = () =>
        this.#guarded(async () =>
          profileOf(hasUserInfo ? { ...claims, ...(await userInfo()) } : claims),
        )
      return { subject, factor: this.#factorIn(claims), profile }
    })
  }

  #factorRequest(): Record<string, string> {
    const { acr, amr } = this.setting.factors
    if (acr.length + amr.length === 0) return {}
    return {
      max_age: String(factorMaxAgeSeconds),
      ...(acr.length > 0 && { acr_values: acr.join(' ') }),
    }
  }

  /**
   * Only a signed ID token counts, with a recent sign-in there (`auth_time`). No other site can
   * request the proofs `phr` and `phrh` (OpenID Connect EAP ACR Values 1.0).
   */
  #factorIn({ acr, amr, auth_time: at }: IDToken): ProvedFactor | undefined {
    const { factors } = this.setting
    const age = typeof at === 'number' ? this.#dependencies.now() / 1_000 - at : Number.NaN
    if (!(age >= -clockToleranceSeconds && age <= factorMaxAgeSeconds + clockToleranceSeconds))
      return undefined
    if (typeof acr === 'string' && factors.acr.includes(acr))
      return acr === 'phr' || acr === 'phrh' ? 'phr' : 'mfa'
    return Array.isArray(amr) && amr.some((one) => factors.amr.includes(String(one)))
      ? 'mfa'
      : undefined
  }

  /** Joins a running read, or one that just failed. */
  #configuration(): Promise<Configuration> {
    const { now } = this.#dependencies
    const at = now()
    if (this.#metadata !== undefined && at < this.#metadata.until)
      return this.#metadata.configuration
    const configuration = this.#discover().catch((error: unknown) => {
      metadata.until = now() + attemptEveryMs
      throw ownErrorIn(error) ?? providerFault(`discovery fails: ${reasonOf(error)}`)
    })
    const metadata = { configuration, until: at + metadataKeptForMs }
    this.#metadata = metadata
    return configuration
  }

  async #discover(): Promise<Configuration> {
    const client = await import('openid-client')
    const { issuer, clientId, clientSecret, algorithm, origins } = this.setting
    const metadata = {
      id_token_signed_response_alg: algorithm,
      [client.clockTolerance]: clockToleranceSeconds,
    }
    const insecure = issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
    const authenticate: import('openid-client').ClientAuth = (as, ...request) => {
      if (clientSecret === undefined) return client.None()(as, ...request)
      // Discovery 1.0, section 3.
      const isBasic =
        as.token_endpoint_auth_methods_supported?.includes('client_secret_basic') ?? true
      return (isBasic ? client.ClientSecretBasic : client.ClientSecretPost)(clientSecret)(
        as,
        ...request,
      )
    }
    const configuration = await client.discovery(
      new URL(issuer),
      clientId,
      metadata,
      authenticate,
      {
        [client.customFetch]: (address, options) => {
          refuseElsewhere(address, origins)
          return boundedFetch(address, options as RequestInit, { fault: providerFault })
        },
        execute: [client.enableNonRepudiationChecks, ...insecure],
      },
    )
    if (configuration.serverMetadata().issuer !== issuer)
      throw providerFault(
        'the discovery document names another issuer; write "issuer" exactly as the document does',
      )
    return configuration
  }

  async #guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting >= maxWaiting) throw overloaded('Too many sign-ins wait for this provider')
    this.#waiting++
    try {
      return await work()
    } catch (error) {
      throw await this.#refusalOf(error)
    } finally {
      this.#waiting--
    }
  }

  /** Errors of openid-client contain tokens, so neither response nor log gets them. */
  async #refusalOf(error: unknown): Promise<CarillonError> {
    const { AuthorizationResponseError, ClientError, ResponseBodyError } = await import(
      'openid-client'
    )
    const { displayName } = this.setting
    if (error instanceof AuthorizationResponseError) return this.#refusedThere(error.error)
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
      const problem = `${displayName} does not accept this sign-in: it was used, or has expired`
      return new CarillonError('INVALID_REQUEST', problem, { remedy: 'Sign in again.' })
    }
    const own = ownErrorIn(error)
    if (own !== undefined && (own.code !== 'UNAVAILABLE' || own.report === 'overload')) return own
    const reason = own?.problem ?? reasonOf(error)
    if (own === undefined && error instanceof ClientError && !unreadable.test(error.code ?? ''))
      return this.#failedCheck(reason)
    return this.#unavailable(reason)
  }

  #failedCheck(reason: string): CarillonError {
    this.#note(reason)
    const problem = `The response of ${this.setting.displayName} failed a check, so nobody was signed in`
    const remedy =
      'Sign in again. If it fails again, tell the operator: the log of the service has the reason.'
    return forbidden(problem, remedy)
  }

  /** RFC 6749, section 4.1.2.1. */
  #refusedThere(code: string): CarillonError {
    if (code === 'server_error' || code === 'temporarily_unavailable')
      return this.#unavailable(`the provider responds with ${code}`)
    const named = /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : ''
    const problem = `The sign-in with ${this.setting.displayName} was refused there${named}`
    return forbidden(problem, 'Nothing was changed. Sign in again, or in another way.')
  }

  #note(reason: string): void {
    const at = this.#dependencies.now()
    if (at < this.#loggedAt + logEveryMs) return
    this.#loggedAt = at
    this.#dependencies.onFailure(this.setting.name, reason)
  }

  #unavailable(reason: string): CarillonError {
    this.#note(reason)
    return new CarillonError(
      'UNAVAILABLE',
      `${this.setting.displayName} cannot be used for a sign-in now`,
      {
        remedy:
          'Try again in a moment, or sign in in another way; the log of the service has the reason.',
        retryAfter: attemptEveryMs / 1000,
        report: 'nothing',
      },
    )
  }
}

/** Other errors of openid-client are failed checks. */
const unreadable =
  /^OAUTH_(TIMEOUT|ABORT|PARSE_ERROR|RESPONSE_IS_NOT_(CONFORM|JSON)|(MISSING|INVALID)_SERVER_METADATA)$/

function ownErrorIn(error: unknown): CarillonError | undefined {
  if (error instanceof CarillonError) return error
  const { cause } = error as Error
  return cause instanceof CarillonError ? cause : undefined
}

function reasonOf(error: unknown): string {
  const { message, cause, error: code } = error as Error & { error?: unknown }
  const parts = [message, cause instanceof Error && cause.message, typeof code === 'string' && code]
  return parts.filter(Boolean).join(': ').slice(0, 300)
}

function refuseElsewhere(address: string, origins: readonly string[]): void {
  const origin = URL.parse(address)?.origin ?? 'an address that is no URL'
  if (origins.includes(origin)) return
  const rule = 'which is neither the origin of the issuer nor in "origins"'
  throw providerFault(`the provider names ${origin.slice(0, 200)}, ${rule}`)
}

function providerFault(problem: string): CarillonError {
  return new CarillonError('UNAVAILABLE', problem, { report: 'nothing' })
}

function profileOf(claims: Readonly<Record<string, unknown>>) {
  const { name, email, email_verified: isVerified } = claims
  return {
    displayName: typeof name === 'string' ? name : null,
    // Some send "true". Anyone can enter an unverified address there.
    email:
      typeof email === 'string' && (isVerified === true || isVerified === 'true') ? email : null,
  }
}
