import * as t from '../http/openapi/schema.ts'
import { ofSignIn, password } from '../sessions/sessions.schemas.ts'
import { ownUsername, proof, username } from '../users/users.schemas.ts'

const returnTo = t.string('Where the browser goes afterwards; a refused one is ignored')
/** The password, or the second step. Too long a text is wrong. */
export const SignInForm = t.component('SignInForm', {
  username: t.optional(t.example(t.string(), 'ann')),
  password: t.optional(t.example(t.string(), 'plum orchard gate 41')),
  return_to: t.optional(t.example(returnTo, 'https://shop.example.org/orders')),
  challenge: t.optional(t.text(0, 128, 'Of the second step')),
  code: t.optional(t.string('Of the authenticator app, or a recovery code')),
  factors: t.optional(t.text(0, 64, 'What the second step displays')),
})
export type SignInForm = t.TypeOf<typeof SignInForm>

export const LoginBody = t.component('Credentials', { username, password, ...ofSignIn })
export type LoginBody = t.TypeOf<typeof LoginBody>

export const RestrictedResponse = t.dataOf(
  t.component('Restricted', { userId: t.id, username: ownUsername, proof }),
)
