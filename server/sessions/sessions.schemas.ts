import { maxDeviceTokenLength } from '../guessing/device-tokens.ts'
import * as t from '../http/openapi/schema.ts'
import { maxTokenLifeSeconds } from '../tokens/read-token.ts'
import { SecondFactorDemand, User } from '../users/users.schemas.ts'

const variant = t.oneOf(['stateful', 'stateless'])
export const variantOr = (otherwise: string) =>
  t.optional(t.example({ ...variant, description: otherwise }, 'stateless'))
export const byDefault = 'Default: the setting CARILLON_VARIANT'
const deviceTokenNote =
  '`deviceToken` of an earlier sign-in on this device: guesses of others do not delay this sign-in'
export const deviceToken = (note = deviceTokenNote) =>
  t.optional(t.text(0, maxDeviceTokenLength, note))
export const ofSignIn = { variant: variantOr(byDefault), deviceToken: deviceToken() }
export const password = t.example(t.text(1, 256), 'plum orchard gate 41')

const token = t.example(
  t.string(),
  'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIwMTlhOWIzZSJ9.c2lnbmF0dXJl',
)

/** The change revokes the caller's token. */
export const newToken = {
  token: t.optional({
    ...token,
    description: 'For a caller with a token: it takes the place of that one, which is revoked',
  }),
  expiresAt: t.optional({ ...t.expiresAt, description: 'When the new token expires' }),
}

/** Absent unless the service demands a factor that this sign-in lacks. */
const secondFactor = t.optional(SecondFactorDemand)
const stateful = { User, expiresAt: t.expiresAt, variant: t.constant('stateful'), secondFactor }
const StatefulLogin = t.component('StatefulLogin', stateful, 'The session is in the cookie')
export const StatelessLogin = t.component('StatelessLogin', {
  User,
  token,
  expiresAt: t.expiresAt,
  variant: t.constant('stateless'),
  deviceToken: t.optional(
    t.string('After a sign-in: keep it, and send it with the next sign-in on this device'),
  ),
  secondFactor,
})
export const Login = t.named('Login', t.discriminated('variant', [StatelessLogin, StatefulLogin]))

const deviceNote = 'Such as `Firefox on Linux`; null if the client did not say'
const UserSession = t.component('UserSession', {
  id: t.id,
  current: t.example(t.boolean('It is the sign-in of this request'), true),
  variant,
  device: t.example(t.nullable(t.string(deviceNote)), 'Firefox on Linux'),
  address: t.example(t.nullable(t.string()), '192.0.2.7'),
  createdAt: t.time,
  lastSeenAt: t.timeOf('Of a stateless sign-in: when the service recorded it last'),
  expiresAt: t.example(t.timeOf('When it ends at the latest'), t.exampleOf(t.expiresAt)),
})
const orderNote = 'The one of this request first, then newest first'
export const UserSessionPageResponse = t.dataOf(t.pageOf('UserSessionPage', UserSession, orderNote))
export const ListQuery = t.object({
  after: t.optional(t.uuid('`next` of an earlier page')),
  limit: t.limit(100, 100),
})

export const DisownedResponse = t.dataOf(
  t.component('Disowned', {
    passwordChangeRequired: t.constant(true),
    deviceToken: t.optional(
      t.string('For a caller with a token: the device token from before is void'),
    ),
  }),
)

const lifetime = {
  minimum: 1,
  maximum: maxTokenLifeSeconds,
  default: maxTokenLifeSeconds,
  description: 'Seconds',
}
export const IssueBody = t.component('TokenRequest', {
  scope: t.oneOf(['inbox'], 'What the token opens'),
  lifetime: t.optional(t.example(t.integer(lifetime), 600)),
})
export const TokenResponse = t.dataOf(t.component('Token', { token, expiresAt: t.expiresAt }))

const ed25519 = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
const key = t.example(t.record(t.anything), {
  ...ed25519,
  kid: 'u5Yk0cKRdvGBvsY7',
  alg: 'EdDSA',
  use: 'sig',
})
export const KeySet = t.component('KeySet', { keys: t.array(key) })
