// A foreign issuer: an identity provider, or an application, that issues tokens for users of this service. CARILLON_ISSUERS
// lists them (server/config/issuers.ts).

export type Algorithm = 'RS256' | 'ES256' | 'EdDSA'

export type Issuer = {
  /** Exactly as `iss` has it. */
  readonly issuer: string
  /** A token is accepted if its `aud` has one of them. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly Algorithm[]
  /** The address of the key set; undefined: found by OpenID Connect Discovery. */
  readonly jwks: string | undefined
  /** The claim that has the user's external id. */
  readonly claim: string
  /** The id belongs to this issuer; otherwise it is a plain one. */
  readonly ownIds: boolean
  readonly createUsers: boolean
  /** The application that the users belong to; '' for none. */
  readonly application: string
}
