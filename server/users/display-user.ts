import { iso, isoOrNull } from '../basics/clock.ts'
import type { Subject } from '../http/operation.ts'
import type { Store } from '../store/store.ts'
import type { FactorPolicy } from '../tokens/factor-policy.ts'
import { type AddedUser, findUser, type User } from './users.store.ts'

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

export function displaySession(user: User, caller: Subject, policy: FactorPolicy) {
  const { proof, expiresAt } = caller
  const secondFactor = (caller.scope !== 'inbox' && policy.demandOn(caller)) || null
  const passwordChangeRequired = user.passwordReportedAt !== null
  const emailVerified = user.emailVerifiedAt !== null
  return {
    user: displayUser(user),
    proof,
    expiresAt: iso(expiresAt),
    emailVerified,
    passwordChangeRequired,
    passwordEndsAt: isoOrNull(user.passwordEndsAt),
    secondFactor,
  }
}

export async function namesOf(store: Store, ids: Iterable<string>): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const id of new Set(ids)) {
    const user = await store.read(findUser, id)
    const name = user?.username ?? user?.externalId
    if (name) names.set(id, name)
  }
  return names
}
