// How a user is read from its row.
import { Part } from '../store/statements.ts'
import { splitNamespace } from './namespaces.ts'

export type User = {
  id: string
  /** Prepared by username.ts. Unique; null for a user who cannot sign in with a password. */
  username: string | null
  displayName: string | null
  createdAt: number
  disabledAt: number | null
  /** Starts at 0. Each new password and each call that disables the user raises it by one, which revokes earlier tokens. */
  credentialGeneration: number
  /** The application that the user belongs to; '' for a user of none. It never changes. */
  application: string
  /** The id that the user has in the application, compared byte by byte. Unique for its application and issuer; null for a user without one. */
  externalId: string | null
  /** The issuer of foreign tokens that the external id belongs to; '' for a plain id. */
  issuer: string
  /** A BCP 47 language tag. */
  locale: string | null
  email: string | null
  /** Starts at 0. Each revocation of the user's issued tokens raises it by one. */
  issuedGeneration: number
  /** When the user proved that `email` is theirs; null without a proof, and after a change of the address. */
  emailVerifiedAt: number | null
  /** Starts at 0. A device token with a lower generation is not valid. */
  deviceGeneration: number
  /** When the user said that somebody else knows the password; null after a new password. */
  passwordReportedAt: number | null
}

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
