// How a user is read from its row.

import { Part } from '../store/statements/templates.ts'
import type { User } from '../store/store.ts'
import { splitNamespace } from './namespaces.ts'

/** The columns of the table `u`, which make a UserRow. */
export const userColumns = new Part(`u.id, u.username, u.display_name as "displayName", u.created_at as "createdAt",
  u.disabled_at as "disabledAt", u.credential_generation as "credentialGeneration", u.external_id as "externalId",
  u.issuer as namespace, u.locale, u.email, u.issued_generation as "issuedGeneration",
  u.email_verified_at as "emailVerifiedAt", u.device_generation as "deviceGeneration",
  u.password_reported_at as "passwordReportedAt"`)

export type UserRow = Omit<User, 'application' | 'issuer'> & { namespace: string }

export function toUser<Row extends UserRow>({ namespace, ...row }: Row): Omit<Row, 'namespace'> & User {
  return { ...row, ...splitNamespace(namespace) }
}
