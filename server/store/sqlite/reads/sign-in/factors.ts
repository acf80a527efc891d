// Reads the second factors of a user, and a challenge.
import { toFactor } from '../../../operations.ts'
import type { Challenge, Factor, Input } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

export const factorsOfUser = `
  select id, kind, label, created_at as "createdAt", confirmed_at as "confirmedAt", last_used_at as "lastUsedAt",
    sealed_secret as "sealedSecret", last_step as "lastStep", credential_id as "credentialId", public_key as "publicKey",
    sign_count as "signCount", transports
  from factor where user_id = ? order by id`

export const unusedRecoveryCodes = 'select count(*) from recovery_code where user_id = ? and used_at is null'

export async function factorsOf(
  reader: Reader,
  userId: string,
): Promise<{ factors: Factor[]; recoveryCodesLeft: number }> {
  const factors = reader.objects<Parameters<typeof toFactor>[0]>(factorsOfUser, userId).map(toFactor)
  const [recoveryCodesLeft = 0] = reader.one<[number]>(unusedRecoveryCodes, userId) ?? []
  return { factors, recoveryCodesLeft }
}

export const challengeByHash = 'select purpose, data from challenge where user_id = ? and hash = ? and expires_at > ?'

export async function findChallenge(
  reader: Reader,
  { userId, hash, at }: Input<'findChallenge'>,
): Promise<Challenge | undefined> {
  return reader.objects<Challenge>(challengeByHash, userId, hash, at)[0]
}
