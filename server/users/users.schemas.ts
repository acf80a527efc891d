import * as t from '../http/openapi/schema.ts'
import {
  maxDisplayNameLength,
  maxEmailLength,
  maxExternalIdLength,
  maxLocaleLength,
} from './profile.ts'

export const name = t.text(1, 256)
export const username = t.example(name, 'ann')
export const ownUsername = t.example(t.nullable(t.string()), 'ann')

const ownProfile = {
  displayName: t.example(t.text(1, maxDisplayNameLength), 'Ann Lee'),
  locale: t.example(t.text(0, maxLocaleLength, 'A language tag (BCP 47), such as de-CH'), 'en'),
}
const profile = { ...ownProfile, email: t.example(t.text(0, maxEmailLength), 'ann@example.org') }

const ofUser = {
  id: t.id,
  externalId: t.example(t.nullable(t.string()), 'customer-42'),
  username: ownUsername,
  ...t.allNullable(profile),
  createdAt: t.time,
}
export const User = t.component('User', ofUser)

export const proof = t.oneOf(['session', 'access-token'])
export const SecondFactorDemand = t.component('SecondFactorDemand', {
  by: t.timeOf('From then on, this sign-in only sets a second factor up'),
  setupOnly: t.boolean('Whether that time has come'),
  passkeyOnly: t.boolean('Only a passkey satisfies the service'),
  needsLink: t.boolean('The first factor needs a link: POST /api/me/factors/link'),
})
const Me = t.component('Me', {
  user: User,
  proof,
  expiresAt: t.expiresAt,
  emailVerified: t.boolean('Whether the user has an e-mail address that was verified'),
  passwordChangeRequired: t.boolean(
    'True after a session was disowned, until a new password is set',
  ),
  passwordEndsAt: t.nullable(t.time),
  secondFactor: t.nullable(SecondFactorDemand),
})
export const MeResponse = t.dataOf(Me)
export const SessionResponse = t.dataOf(t.nullable(Me), 'Session')

const erasedNote =
  'Only if the external id was that of a user who was erased, and whom this request creates again'
const erased = t.optional(t.boolean(erasedNote))
const accountFields = {
  ...ofUser,
  emailVerified: t.boolean(),
  disabled: t.boolean(),
  application: t.optional(
    t.string('The application that the user belongs to; absent if it belongs to none'),
  ),
  issuer: t.optional(
    t.string('The issuer of foreign tokens that the external id belongs to; absent for a plain id'),
  ),
  erased,
}
const UserAccount = t.component('UserAccount', accountFields)
export const UserAccountResponse = t.dataOf(UserAccount)
export const UserPageResponse = t.dataOf(t.pageOf('UserPage', UserAccount))

const externalIdNote = 'The id of the user in the application, compared byte by byte; not . or ..'
const externalId = t.example(t.text(1, maxExternalIdLength, externalIdNote), 'customer-42')
const UserPut = t.component('UserPut', {
  externalId: t.example(t.string(), 'customer-42'),
  status: t.oneOf(['created', 'updated']),
  erased,
  user: UserAccount,
})
export const UserPutsResponse = t.dataOf(
  t.component('UserPuts', { results: t.array(UserPut, 'In the order of the request') }),
)

const verifiedNote =
  'Whether the application has verified the e-mail address; another address is not verified unless it says so'
const timeZone = t.example(
  t.orNull(t.text(1, 64, 'Of the user’s mails, such as `Europe/Berlin`; null for UTC')),
  'Europe/Berlin',
)
const changes = {
  ...t.allOptional(profile),
  emailVerified: t.optional(t.boolean(verifiedNote)),
  timeZone: t.optional(timeZone),
}
const partial = 'A field that is absent keeps its value; null clears it'
export const UserProfile = t.component('UserProfile', changes, partial)

export const OwnProfile = t.component('OwnProfile', t.allOptional(ownProfile), partial)

const passwordHash = t.text(
  0,
  512,
  'Of another system: bcrypt, scrypt, argon2 or PBKDF2; replaced at the next sign-in',
)
const newUser = {
  username: name,
  password: t.optional(t.text(0, 16_384, 'Or passwordHash, or none of the two')),
  passwordHash: t.optional(passwordHash),
  externalId: t.optional(t.orNull(externalId)),
  ...changes,
}
export const NewUser = t.example(t.component('NewUser', newUser), {
  username: 'lee',
  password: 'quiet lantern above the harbour',
  displayName: 'Lee',
})
export type NewUser = t.TypeOf<typeof NewUser>

const disabledNote = 'True ends every session and token of the user'
const changed = {
  ...changes,
  username: t.optional(t.orNull(name)),
  disabled: t.optional(t.boolean(disabledNote)),
}
export const UserChange = t.component('UserChange', changed, `${partial}, except a username`)
export type UserChange = t.TypeOf<typeof UserChange>

export const UserEntry = t.component('UserEntry', {
  externalId,
  ...changes,
  username: t.optional(t.orNull(name)),
  passwordHash: t.optional(t.orNull(passwordHash)),
  disabled: t.optional(t.boolean()),
})
const maxEntries = { minItems: 1, maxItems: 1000 }
export const UserEntries = t.component('UserEntries', { users: t.array(UserEntry, maxEntries) })
export const UncheckedEntries = t.object({ users: t.array(t.anything, maxEntries) })

const searchNote =
  'Only those whose username, display name, e-mail address or external id contains it'
export const UserQuery = t.object({
  search: t.optional(t.text(0, 255, searchNote)),
  externalId: t.optional(t.text(0, 255, 'Only the one with this external id')),
  ...t.cursor,
})
