// The JSON shapes of requests: Fastify validates the queries and bodies with them, and openapi.ts publishes them. Every object of a
// body is a component, because generated code names its types after them. Responses are in response-schemas.ts.
import { maxDeviceTokenLength } from '../../guessing/device-tokens.ts'
import { maxTokenLifeSeconds } from '../../tokens/read-token.ts'
import { maxExternalIdLength } from '../../users/external-id.ts'
import { maxDisplayNameLength, maxEmailLength, maxLocaleLength } from '../../users/profile.ts'
import { maxReturnToLength } from '../request/origin/return-to.ts'
import {
  anything,
  array,
  boolean,
  component,
  integer,
  object,
  oneOf,
  optional,
  orNull,
  record,
  string,
  type TypeOf,
  text,
} from './schema.ts'

const variantOr = (otherwise: string) => optional(oneOf(['stateful', 'stateless'], otherwise))
const byDefault = 'Default: the setting CARILLON_VARIANT'
const deviceTokenNote =
  '`deviceToken` of an earlier sign-in on this device: guesses of others do not delay this sign-in'
const deviceToken = optional(text(0, maxDeviceTokenLength, deviceTokenNote))
/** What a sign-in may say besides its proof. */
export const ofSignIn = { variant: variantOr(byDefault), deviceToken }

const name = text(1, 256)
export const LoginBody = component('Credentials', { username: name, password: text(1, 256), ...ofSignIn })
export type LoginBody = TypeOf<typeof LoginBody>

/** Of the sign-in page: either the password, or the second step. Too long a text is a wrong one. */
export const SignInForm = component('SignInForm', {
  username: optional(string()),
  password: optional(string()),
  return_to: optional(string('Where the browser goes afterwards; a refused one is ignored')),
  challenge: optional(text(0, 128, 'Of the second step')),
  code: optional(string('Of the authenticator app, or a recovery code')),
  factors: optional(text(0, 64, 'What the second step displays')),
})
export type SignInForm = TypeOf<typeof SignInForm>

/** Characters of a category, in a delivery and in the filter of a list. */
const maxCategoryLength = 64
/** How many categories can filter one list, or be marked as read by one request. */
const maxCategories = 20
const someCategories = optional(
  array(text(1, maxCategoryLength), {
    minItems: 1,
    maxItems: maxCategories,
    description: 'Only those of this category; repeat the field for several, at most 20',
  }),
)

const upTo = (maximum: number, initial: number) => optional(integer({ minimum: 1, maximum, default: initial }))

const status = { default: 'all', description: 'Only those that are not read, or are read' }
export const ListQuery = object({
  page: optional(integer({ minimum: 1, default: 1 })),
  limit: upTo(100, 20),
  status: optional(oneOf(['unread', 'read', 'all'], status)),
  category: someCategories,
  before: optional(integer({ minimum: 1, description: '`next` of an earlier page, instead of `page`' })),
})

const onScreen = { maximum: Number.MAX_SAFE_INTEGER, description: 'The highest `seq` that was on screen' }
export const ReadAllQuery = object({
  throughSeq: optional(integer({ minimum: 1, ...onScreen })),
  through: optional(string({ format: 'uuid', description: 'A notification: those up to the `seq` that it has now' })),
  category: someCategories,
})

export const ChangesQuery = object({
  since: string('A version, or a position from a response or an event'),
  limit: upTo(100, 100),
  wait: optional(integer({ minimum: 0, maximum: 25, default: 0, description: 'Seconds to wait for a change' })),
})

/** `since` may be any text: a stream begins with a resync if it is not a position of this inbox. */
export const StreamQuery = object({ since: optional(string('Instead of Last-Event-ID')) })

const Recipient = component(
  'Recipient',
  {
    username: optional(orNull(name)),
    userId: optional(orNull(text(1, 64))),
    externalId: optional(orNull(text(1, maxExternalIdLength))),
    issuer: optional(orNull(text(1, 255, 'Of the externalId; without it, a plain id'))),
  },
  { minProperties: 1, maxProperties: 4, description: 'Exactly one of `username`, `userId` and `externalId`' },
)

const keyNote = 'A later notification with this key replaces the text of the earlier one'
const againNote =
  'Needs a key. True: if it replaces a notification, that one becomes unread and the newest; its count rises by one'
const unknownNote = 'Default: report. With refuse, one unknown recipient is a 422, and nothing is delivered'
export const DeliveryBody = component('DeliveryRequest', {
  recipients: array(Recipient, { minItems: 1, maxItems: 1000 }),
  title: text(1, 200),
  body: optional(orNull(text(0, 4000))),
  url: optional(orNull(text(1, 2048, 'http, https or relative'))),
  category: optional(orNull(text(1, maxCategoryLength))),
  data: optional(orNull(record(anything, 'At most 8 KiB as JSON'))),
  key: optional(orNull(text(1, 255, keyNote))),
  again: optional(orNull(boolean(againNote))),
  unknownRecipients: optional(orNull(oneOf(['report', 'refuse'], unknownNote))),
})
export type DeliveryBody = TypeOf<typeof DeliveryBody>

const place = (description: string) => text(1, maxReturnToLength, description)

export const ProviderQuery = object({
  variant: variantOr(byDefault),
  return_to: optional(
    place('Where the browser goes afterwards: a path, or a URL of an origin in CARILLON_ALLOWED_ORIGINS'),
  ),
  challenge: optional(string('Refused: a sign-in with a challenge begins by the form')),
})

const challengeNote = 'The SHA-256 of a verifier that the page keeps, as base64url'
export const ProviderForm = component('ProviderForm', {
  return_to: optional(place('Where the browser goes afterwards: a URL of the page’s own origin')),
  challenge: optional(string({ pattern: '^[A-Za-z0-9_-]{43}$', description: challengeNote })),
})

export const ProviderCodeBody = component('ProviderCode', {
  code: text(1, 128, '`sign-in-code` of the fragment'),
  verifier: optional(text(43, 128, 'If the sign-in began with a challenge: the text whose SHA-256 that is')),
})
export type ProviderCodeBody = TypeOf<typeof ProviderCodeBody>

export const ProviderLinkBody = component('ProviderLink', {
  returnTo: optional(orNull(place('As `return_to` of a sign-in'))),
})

const lifetime = { minimum: 1, maximum: maxTokenLifeSeconds, default: maxTokenLifeSeconds, description: 'Seconds' }
export const IssueBody = component('TokenRequest', {
  scope: oneOf(['inbox'], 'What the token opens'),
  lifetime: optional(integer(lifetime)),
})

export const LinkBody = component('LinkRequest', {
  purpose: oneOf(['invite', 'reset'], 'Invite for the first password, reset for another one'),
})

/** The policy says what is wrong with a new password, also with one that is empty or too long for any policy. */
const newPassword = text(0, 16_384, 'At least CARILLON_PASSWORD_MIN characters, at most 256')
const linkToken = string('The part of the link after #')

export const ResetBody = component('PasswordReset', {
  token: linkToken,
  newPassword,
  variant: variantOr('Signs the user in, as /login does; without it 204'),
  deviceToken,
})

export const LinkTokenBody = component('LinkToken', { token: linkToken })

export const ForgotBody = component(
  'ForgottenPassword',
  { username: optional(name), email: optional(text(1, maxEmailLength)) },
  { minProperties: 1, maxProperties: 1, description: 'One of the two' },
)

export const ForgotForm = component('ForgotForm', {
  account: text(0, maxEmailLength, 'A username or an e-mail address'),
})

export const PasswordChangeBody = component('PasswordChange', { currentPassword: text(1, 256), newPassword })

const verifiedNote =
  'Whether the application has verified the e-mail address; another address is not verified unless it says so'
const externalIdNote = 'The id of the user in the application, compared byte by byte; not . or ..'
const hashNote = 'Of another system: bcrypt, scrypt, argon2 or PBKDF2; replaced at the next sign-in'
const externalId = text(1, maxExternalIdLength, externalIdNote)
const passwordHash = text(0, 512, hashNote)
const ownProfile = {
  displayName: optional(orNull(text(1, maxDisplayNameLength))),
  locale: optional(orNull(text(0, maxLocaleLength, 'A language tag (BCP 47), such as de-CH'))),
}
const profile = {
  ...ownProfile,
  email: optional(orNull(text(0, maxEmailLength))),
  emailVerified: optional(boolean(verifiedNote)),
}
const partial = 'A field that is absent keeps its value; null clears it'

export const UserProfile = component('UserProfile', profile, partial)

export const OwnProfile = component('OwnProfile', ownProfile, partial)
export type OwnProfile = TypeOf<typeof OwnProfile>

export const NewUser = component('NewUser', {
  username: name,
  password: optional(text(0, 16_384, 'Or passwordHash, or none of the two')),
  passwordHash: optional(passwordHash),
  externalId: optional(orNull(externalId)),
  ...profile,
})

const changed = {
  ...profile,
  username: optional(orNull(name)),
  disabled: optional(boolean('True ends every session and token of the user')),
}
export const UserChange = component('UserChange', changed, `${partial}, except a username`)

const UserEntry = component('UserEntry', {
  externalId,
  ...profile,
  username: optional(orNull(name)),
  passwordHash: optional(orNull(passwordHash)),
  disabled: optional(boolean()),
})
const maxEntries = { minItems: 1, maxItems: 1000 }
export const UserEntries = component('UserEntries', { users: array(UserEntry, maxEntries) })
/** What Fastify checks of it. The handler checks the entries, to find every fault of each. */
export const UncheckedEntries = object({ users: array(anything, maxEntries) })

const cursor = { after: optional(text(0, 64, '`next` of an earlier page')), limit: upTo(100, 20) }
export const PageQuery = object(cursor)

export const SessionsQuery = object({
  after: optional(string({ format: 'uuid', description: '`next` of an earlier page' })),
  limit: upTo(100, 100),
})

const searchNote = 'Only those whose username, display name, e-mail address or external id contains it'
export const UserQuery = object({
  search: optional(text(0, 255, searchNote)),
  externalId: optional(text(0, 255, 'Only the one with this external id')),
  ...cursor,
})
