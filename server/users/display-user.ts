import { iso } from '../basics/clock.ts'
import type { Subject } from '../http/operation.ts'
import type { FactorPolicy } from '../tokens/factor-policy.ts'
import type { AddedUser, User } from './users.store.ts'

export function displayUser({
  id,
  externalId,
  username,
  displayName,
  locale,
  email,
  createdAt,
}: User) {
  return { id, externalId, username, displayName, locale, email, createdAt: iso(createdAt) }
}

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

/** Tokens of scope `inbox` are none of the policy's business. */
export function displaySession(user: User, caller: Subject, policy: FactorPolicy) {
  const { proof, expiresAt } = caller
  const secondFactor = (caller.scope !== 'inbox' && policy.demandOn(caller)) || null
  const passwordChangeRequired = user.passwordReportedAt !== null
  const emailVerified = user.emailVerifiedAt !== null
  const passwordEndsAt = user.passwordEndsAt === null ? null : iso(user.passwordEndsAt)
  return {
    user: displayUser(user),
    proof,
    expiresAt: iso(expiresAt),
    emailVerified,
    passwordChangeRequired,
    passwordEndsAt,
    secondFactor,
  }
}
