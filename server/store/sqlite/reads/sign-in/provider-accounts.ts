// Reads the accounts that a user has at providers.
import type { ProviderAccount } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

export const accountsOfUser = `
  select issuer, subject, email, created_at as "createdAt", last_used_at as "lastUsedAt"
  from provider_account where owner_id = ? order by issuer`

export async function providerAccounts(reader: Reader, userId: string): Promise<ProviderAccount[]> {
  return reader.objects<ProviderAccount>(accountsOfUser, userId)
}
