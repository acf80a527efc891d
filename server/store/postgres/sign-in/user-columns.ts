// The columns of a user, under the names of their fields in User.
export const userColumns = `id, username, display_name as "displayName", created_at as "createdAt", disabled_at as "disabledAt",
  credential_generation as "credentialGeneration", external_id as "externalId", issuer, locale, email,
  issued_generation as "issuedGeneration", email_verified_at as "emailVerifiedAt", device_generation as "deviceGeneration",
  password_reported_at as "passwordReportedAt"`
