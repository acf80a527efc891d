// Reads what was sealed with another secret.
import type { Input, SealedFactor } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

export const factorsSealed = `
  select user_id as "userId", id, sealed_secret as "sealedSecret" from factor
  where (user_id, id) > (?, ?) and sealed_secret is not null and substr(sealed_secret, 1, length(?)) <> ?
  order by user_id, id limit ?`

export async function factorsSealedOtherwise(
  reader: Reader,
  { prefix, after, limit }: Input<'factorsSealedOtherwise'>,
): Promise<SealedFactor[]> {
  return reader.objects(factorsSealed, after.userId, after.id, prefix, prefix, limit)
}
