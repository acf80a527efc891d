// Reads token revocations and signing keys.
import type { SigningKey, TokenRevocation } from '../../store.ts'
import type { Reader } from '../connection.ts'

export const revocationsAfter = `
  select user_id as "userId", nullif(sign_in_id, '') as "signInId", not_before as "notBefore", expires_at as "expiresAt",
    first_generation as "firstGeneration", except_sign_in_id as "exceptSignInId"
  from token_cutoff where expires_at > ?`

export async function tokenRevocations(reader: Reader, now: number): Promise<TokenRevocation[]> {
  return reader.objects(revocationsAfter, now)
}

export const allSigningKeys = `
  select kid, public_jwk as "publicJwk", sealed_private_jwk as "sealedPrivateJwk", created_at as "createdAt"
  from signing_key order by created_at, kid`

export async function signingKeys(reader: Reader): Promise<SigningKey[]> {
  return reader.objects(allSigningKeys)
}
