import * as t from '../http/openapi/schema.ts'
import { maxReturnToLength } from '../pages/places.ts'
import { deviceToken, password, variantOr } from '../sessions/sessions.schemas.ts'
import { maxEmailLength } from '../users/profile.ts'
import { username } from '../users/users.schemas.ts'

const purpose = t.oneOf(['invite', 'reset'], 'Invite for the first password, reset for another one')
const returnToNote =
  'Where the browser goes afterwards: a path, or a URL of an origin in CARILLON_ALLOWED_ORIGINS'
const lifetimeNote = 'Seconds. Without it: CARILLON_INVITE_LIFETIME or CARILLON_LINK_LIFETIME'
const mailedToNote =
  'The address on record, to which you send the link: its use verifies the address'
const linkRequest = t.component('LinkRequest', {
  purpose,
  returnTo: t.optional(t.text(1, maxReturnToLength, returnToNote)),
  lifetime: t.optional(t.integer({ minimum: 1, maximum: 604_800, description: lifetimeNote })),
  mailedTo: t.optional(t.text(1, maxEmailLength, mailedToNote)),
})
export const LinkBody = t.example(linkRequest, { purpose: 'reset', returnTo: '/inbox' })

const secret = 'mJrYV3ZbHkqO4sW7cT1xE9uLa0dNf5gRi8pQ2wXvB6y'
const url = t.example(
  t.string('The token is the part after #'),
  `https://bell.example.org/reset#${secret}`,
)
export const UserLinkResponse = t.dataOf(t.component('UserLink', { url, expiresAt: t.expiresAt }))

const token = t.example(t.string('The part of the link after #'), secret)
export const LinkTokenBody = t.component('LinkToken', { token })
export const LinkFactsResponse = t.dataOf(
  t.component('LinkFacts', {
    username: t.example(t.string(), 'ann'),
    purpose: t.oneOf(['invite', 'reset']),
    expiresAt: t.expiresAt,
    returnTo: t.optional(
      t.example(t.string('If it is still an allowed place'), 'https://shop.example.org/welcome'),
    ),
    mailedTo: t.optional(
      t.example(t.string('The address that it was sent to, masked'), 'a***@example.org'),
    ),
  }),
)

const newPasswordNote = 'At least CARILLON_PASSWORD_MIN characters, at most 256'
const newPassword = t.example(t.text(0, 16_384, newPasswordNote), 'grey heron over the weir')
export const ResetBody = t.component('PasswordReset', {
  token,
  newPassword,
  variant: variantOr('Signs the user in, as /login does; without it 204'),
  deviceToken: deviceToken(),
})
export const PasswordChangeBody = t.component('PasswordChange', {
  currentPassword: password,
  newPassword,
})

const eitherOne = { minProperties: 1, maxProperties: 1, description: 'One of the two' }
const forgotten = { username: t.optional(username), email: t.optional(t.text(1, maxEmailLength)) }
export const ForgotBody = t.component('ForgottenPassword', forgotten, eitherOne)
const account = t.example(
  t.text(0, maxEmailLength, 'A username or an e-mail address'),
  'ann@example.org',
)
export const ForgotForm = t.component('ForgotForm', { account })
