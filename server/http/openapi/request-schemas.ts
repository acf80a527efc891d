// The JSON shapes of requests: Fastify validates the queries and bodies with them, and openapi.ts publishes them. Every object of a
// body is named, because generated code names its types after them. Responses are in response-schemas.ts.
import { maxDeviceTokenLength } from '../../sign-in/devices/device-tokens.ts'
import { maxTokenLifeSeconds } from '../../sign-in/token/read-token.ts'
import { maxExternalIdLength } from '../../sign-in/users/external-id.ts'
import { maxDisplayNameLength, maxEmailLength, maxLocaleLength } from '../../sign-in/users/profile.ts'
import { maxReturnToLength } from '../request/origin/return-to.ts'
import {
  anything,
  array,
  boolean,
  integer,
  named,
  object,
  oneOf,
  orNull,
  record,
  string,
  type TypeOf,
} from './schema.ts'

/** What a sign-in may say besides its proof. */
export const ofSignIn = {
  variant: oneOf(['stateful', 'stateless'], { description: 'Default: the setting CARILLON_VARIANT' }),
  deviceToken: string({
    maxLength: maxDeviceTokenLength,
    description: '`deviceToken` of an earlier sign-in on this device: guesses of others do not delay this sign-in',
  }),
}

export const LoginBody = named(
  'Credentials',
  object(
    { username: string({ minLength: 1, maxLength: 256 }), password: string({ minLength: 1, maxLength: 256 }) },
    ofSignIn,
  ),
)
export type LoginBody = TypeOf<typeof LoginBody>

/** Of the sign-in page: either the password, or the second step. Too long a text is a wrong one. */
export const SignInForm = named(
  'SignInForm',
  object(
    {},
    {
      username: string(),
      password: string(),
      return_to: string({ description: 'Where the browser goes afterwards; a refused one is ignored' }),
      challenge: string({ maxLength: 128, description: 'Of the second step' }),
      code: string({ description: 'Of the authenticator app, or a recovery code' }),
      factors: string({ maxLength: 64, description: 'What the second step displays' }),
    },
  ),
)
export type SignInForm = TypeOf<typeof SignInForm>

/** Characters of a category, in a delivery and in the filter of a list. */
export const maxCategoryLength = 64
/** How many categories can filter one list, or be marked as read by one request. */
export const maxCategories = 20

function someCategories(description: string) {
  const category = string({ minLength: 1, maxLength: maxCategoryLength })
  return array(category, { minItems: 1, maxItems: maxCategories, description })
}

export const ListQuery = object(
  {},
  {
    page: integer({ minimum: 1, default: 1 }),
    limit: integer({ minimum: 1, maximum: 100, default: 20 }),
    status: oneOf(['unread', 'read', 'all'], {
      default: 'all',
      description: 'Only those that are not read, or are read',
    }),
    category: someCategories('Only those of this category; repeat the field for several, at most 20'),
    before: integer({ minimum: 1, description: '`next` of an earlier page, instead of `page`' }),
  },
)
export type ListQuery = TypeOf<typeof ListQuery>

export const ReadAllQuery = object(
  {},
  {
    throughSeq: integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The highest `seq` that was on screen',
    }),
    through: string({ format: 'uuid', description: 'A notification: those up to the `seq` that it has now' }),
    category: someCategories('Only those of this category; repeat the field for several, at most 20'),
  },
)
export type ReadAllQuery = TypeOf<typeof ReadAllQuery>

const since = { description: 'A version, or a position from a response or an event' }

export const ChangesQuery = object(
  { since: string(since) },
  {
    limit: integer({ minimum: 1, maximum: 100, default: 100 }),
    wait: integer({ minimum: 0, maximum: 25, default: 0, description: 'Seconds to wait for a change' }),
  },
)
export type ChangesQuery = TypeOf<typeof ChangesQuery>

/** `since` may be any text: a stream begins with a resync if it is not a position of this inbox. */
export const StreamQuery = object({}, { since: string({ ...since, description: 'Instead of Last-Event-ID' }) })
export type StreamQuery = TypeOf<typeof StreamQuery>

const Recipient = named(
  'Recipient',
  object(
    {},
    {
      username: orNull(string({ minLength: 1, maxLength: 256 })),
      userId: orNull(string({ minLength: 1, maxLength: 64 })),
      externalId: orNull(string({ minLength: 1, maxLength: maxExternalIdLength })),
      issuer: orNull(
        string({ minLength: 1, maxLength: 255, description: 'Of the externalId; without it, a plain id' }),
      ),
    },
    { minProperties: 1, maxProperties: 4, description: 'Exactly one of `username`, `userId` and `externalId`' },
  ),
)

export const DeliveryBody = named(
  'DeliveryRequest',
  object(
    {
      recipients: array(Recipient, { minItems: 1, maxItems: 1000 }),
      title: string({ minLength: 1, maxLength: 200 }),
    },
    {
      body: orNull(string({ maxLength: 4000 })),
      url: orNull(string({ minLength: 1, maxLength: 2048, description: 'http, https or relative' })),
      category: orNull(string({ minLength: 1, maxLength: maxCategoryLength })),
      data: orNull(record(anything, { description: 'At most 8 KiB as JSON' })),
      key: orNull(
        string({
          minLength: 1,
          maxLength: 255,
          description: 'A later notification with this key replaces the text of the earlier one',
        }),
      ),
      again: orNull(
        boolean({
          description:
            'Needs a key. True: if it replaces a notification, that one becomes unread and the newest; its count rises by one',
        }),
      ),
      unknownRecipients: orNull(
        oneOf(['report', 'refuse'], {
          description: 'Default: report. With refuse, one unknown recipient is a 422, and nothing is delivered',
        }),
      ),
    },
  ),
)
export type DeliveryBody = TypeOf<typeof DeliveryBody>

export const ProviderQuery = object(
  {},
  {
    variant: oneOf(['stateful', 'stateless'], { description: 'Default: the setting CARILLON_VARIANT' }),
    return_to: string({
      minLength: 1,
      maxLength: maxReturnToLength,
      description: 'Where the browser goes afterwards: a path, or a URL of an origin in CARILLON_ALLOWED_ORIGINS',
    }),
    challenge: string({ description: 'Refused: a sign-in with a challenge begins by the form' }),
  },
)
export type ProviderQuery = TypeOf<typeof ProviderQuery>

export const ProviderForm = named(
  'ProviderForm',
  object(
    {},
    {
      return_to: string({
        minLength: 1,
        maxLength: maxReturnToLength,
        description: 'Where the browser goes afterwards: a URL of the page’s own origin',
      }),
      challenge: string({
        pattern: '^[A-Za-z0-9_-]{43}$',
        description: 'The SHA-256 of a verifier that the page keeps, as base64url',
      }),
    },
  ),
)
export type ProviderForm = TypeOf<typeof ProviderForm>

export const ProviderCodeBody = named(
  'ProviderCode',
  object(
    { code: string({ minLength: 1, maxLength: 128, description: '`sign-in-code` of the fragment' }) },
    {
      verifier: string({
        minLength: 43,
        maxLength: 128,
        description: 'If the sign-in began with a challenge: the text whose SHA-256 that is',
      }),
    },
  ),
)
export type ProviderCodeBody = TypeOf<typeof ProviderCodeBody>

export const ProviderLinkBody = named(
  'ProviderLink',
  object(
    {},
    {
      returnTo: orNull(
        string({ minLength: 1, maxLength: maxReturnToLength, description: 'As `return_to` of a sign-in' }),
      ),
    },
  ),
)
export type ProviderLinkBody = TypeOf<typeof ProviderLinkBody>

export const IssueBody = named(
  'TokenRequest',
  object(
    { scope: oneOf(['inbox'], { description: 'What the token opens' }) },
    {
      lifetime: integer({
        minimum: 1,
        maximum: maxTokenLifeSeconds,
        default: maxTokenLifeSeconds,
        description: 'Seconds',
      }),
    },
  ),
)
export type IssueBody = TypeOf<typeof IssueBody>

export const LinkBody = named(
  'LinkRequest',
  object({
    purpose: oneOf(['invite', 'reset'], { description: 'Invite for the first password, reset for another one' }),
  }),
)
export type LinkBody = TypeOf<typeof LinkBody>

/** The policy says what is wrong with a new password, also with one that is empty or too long for any policy. */
const newPassword = string({ maxLength: 16_384, description: 'At least CARILLON_PASSWORD_MIN characters, at most 256' })
const linkToken = string({ description: 'The part of the link after #' })

export const ResetBody = named(
  'PasswordReset',
  object(
    { token: linkToken, newPassword },
    {
      ...ofSignIn,
      variant: oneOf(['stateful', 'stateless'], { description: 'Signs the user in, as /login does; without it 204' }),
    },
  ),
)
export type ResetBody = TypeOf<typeof ResetBody>

export const LinkTokenBody = named('LinkToken', object({ token: linkToken }))
export type LinkTokenBody = TypeOf<typeof LinkTokenBody>

export const ForgotBody = named(
  'ForgottenPassword',
  object(
    {},
    { username: string({ minLength: 1, maxLength: 256 }), email: string({ minLength: 1, maxLength: maxEmailLength }) },
    { minProperties: 1, maxProperties: 1, description: 'One of the two' },
  ),
)
export type ForgotBody = TypeOf<typeof ForgotBody>

/** Of the page for a forgotten password. */
export const ForgotForm = named(
  'ForgotForm',
  object({ account: string({ maxLength: maxEmailLength, description: 'A username or an e-mail address' }) }),
)
export type ForgotForm = TypeOf<typeof ForgotForm>

export const PasswordChangeBody = named(
  'PasswordChange',
  object({ currentPassword: string({ minLength: 1, maxLength: 256 }), newPassword }),
)
export type PasswordChangeBody = TypeOf<typeof PasswordChangeBody>

const displayName = orNull(string({ minLength: 1, maxLength: maxDisplayNameLength }))
const locale = orNull(string({ maxLength: maxLocaleLength, description: 'A language tag (BCP 47), such as de-CH' }))
const email = orNull(string({ maxLength: maxEmailLength }))
const emailVerified = boolean({
  description:
    'Whether the application has verified the e-mail address; another address is not verified unless it says so',
})
const externalId = string({
  minLength: 1,
  maxLength: maxExternalIdLength,
  description: 'The id of the user in the application, compared byte by byte; not . or ..',
})
const passwordHash = string({
  maxLength: 512,
  description: 'Of another system: bcrypt, scrypt, argon2 or PBKDF2; replaced at the next sign-in',
})
const profile = { displayName, locale, email, emailVerified }

export const UserProfile = named(
  'UserProfile',
  object({}, profile, { description: 'A field that is absent keeps its value; null clears it' }),
)
export type UserProfile = TypeOf<typeof UserProfile>

export const OwnProfile = named(
  'OwnProfile',
  object({}, { displayName, locale }, { description: 'A field that is absent keeps its value; null clears it' }),
)
export type OwnProfile = TypeOf<typeof OwnProfile>

export const NewUser = named(
  'NewUser',
  object(
    { username: string({ minLength: 1, maxLength: 256 }) },
    {
      password: string({ maxLength: 16_384, description: 'Or passwordHash, or none of the two' }),
      passwordHash,
      externalId: orNull(externalId),
      ...profile,
    },
  ),
)
export type NewUser = TypeOf<typeof NewUser>

export const UserChange = named(
  'UserChange',
  object(
    {},
    {
      ...profile,
      username: orNull(string({ minLength: 1, maxLength: 256 })),
      disabled: boolean({ description: 'True ends every session and token of the user' }),
    },
    { description: 'A field that is absent keeps its value; null clears it, except a username' },
  ),
)
export type UserChange = TypeOf<typeof UserChange>

const UserEntry = named(
  'UserEntry',
  object(
    { externalId },
    {
      ...profile,
      username: orNull(string({ minLength: 1, maxLength: 256 })),
      passwordHash: orNull(passwordHash),
      disabled: boolean(),
    },
  ),
)
const maxEntries = { minItems: 1, maxItems: 1000 }
export const UserEntries = named('UserEntries', object({ users: array(UserEntry, maxEntries) }))
/** What Fastify checks of it. The handler checks the entries, to find every fault of each. */
export const UncheckedEntries = object({ users: array(anything, maxEntries) })
export type UncheckedEntries = TypeOf<typeof UncheckedEntries>

/** Of a list by cursor. */
export const PageQuery = object(
  {},
  {
    after: string({ maxLength: 64, description: '`next` of an earlier page' }),
    limit: integer({ minimum: 1, maximum: 100, default: 20 }),
  },
)
export type PageQuery = TypeOf<typeof PageQuery>

export const SessionsQuery = object(
  {},
  {
    after: string({ format: 'uuid', description: '`next` of an earlier page' }),
    limit: integer({ minimum: 1, maximum: 100, default: 100 }),
  },
)
export type SessionsQuery = TypeOf<typeof SessionsQuery>

export const UserQuery = object(
  {},
  {
    search: string({
      maxLength: 255,
      description: 'Only those whose username, display name, e-mail address or external id contains it',
    }),
    externalId: string({ maxLength: 255, description: 'Only the one with this external id' }),
    after: string({ maxLength: 64, description: '`next` of an earlier page' }),
    limit: integer({ minimum: 1, maximum: 100, default: 20 }),
  },
)
export type UserQuery = TypeOf<typeof UserQuery>
