// How a user appears in responses: as the API's spec has it, as an application sees its users, and as the user sees the own sign-in.
import { iso } from '../basics/clock.ts'
import type { Subject } from '../http/operation.ts'
import type { AddedUser, User } from './users.store.ts'

/** The `User` of the API's spec: the public fields only, without the password hash and the account's state. */
export function displayUser({ id, externalId, username, displayName, locale, email, createdAt }: User) {
  return { id, externalId, username, displayName, locale, email, createdAt: iso(createdAt) }
}

/** A user as a producer with scope `users` sees them. */
export function displayAccount(user: AddedUser) {
  const { application, externalId, issuer, disabledAt, emailVerifiedAt, erased } = user
  const { id, externalId: _, ...fields } = displayUser(user)
  return {
    id,
    ...(application !== '' && { application }),
    externalId,
    ...(issuer !== '' && { issuer }),
    ...fields,
    emailVerified: emailVerifiedAt !== null,
    disabled: disabledAt !== null,
    ...(erased && { erased }),
  }
}

export function displaySession(user: User, { proof, expiresAt }: Subject) {
  const passwordChangeRequired = user.passwordReportedAt !== null
  const emailVerified = user.emailVerifiedAt !== null
  return { user: displayUser(user), proof, expiresAt: iso(expiresAt), emailVerified, passwordChangeRequired }
}
