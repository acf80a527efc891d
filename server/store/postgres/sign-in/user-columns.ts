// The columns of a user, under the names of their fields in User.
const namespaceColumns = `left(issuer, greatest(strpos(issuer, chr(1)) - 1, 0)) as application,
  substr(issuer, strpos(issuer, chr(1)) + 1) as issuer`
export const userColumns = `id, username, display_name as "displayName", created_at as "createdAt", disabled_at as "disabledAt",
  credential_generation as "credentialGeneration", external_id as "externalId", ${namespaceColumns}, locale, email,
  issued_generation as "issuedGeneration", email_verified_at as "emailVerifiedAt", device_generation as "deviceGeneration",
  password_reported_at as "passwordReportedAt"`
