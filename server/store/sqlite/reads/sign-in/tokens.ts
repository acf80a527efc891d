// Reads token revocations.
import type { TokenRevocation } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

export const revocationsAfter = `
  select user_id as "userId", nullif(sign_in_id, '') as "signInId", expires_at as "expiresAt",
    first_generation as "firstGeneration", except_sign_in_id as "exceptSignInId"
  from token_cutoff where expires_at > ?`

export async function tokenRevocations(reader: Reader, now: number): Promise<TokenRevocation[]> {
  return reader.objects(revocationsAfter, now)
}
