// Reads the keys that sign access tokens.
import type { SigningKey } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

export const allSigningKeys = `
  select kid, public_jwk as "publicJwk", sealed_private_jwk as "sealedPrivateJwk", created_at as "createdAt",
    starts_at as "startsAt", retired_at as "retiredAt"
  from signing_key order by created_at, kid`

export async function signingKeys(reader: Reader): Promise<SigningKey[]> {
  return reader.objects(allSigningKeys)
}
