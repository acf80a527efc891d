// The accounts at providers of the store on PostgreSQL. Their laws are in functions/sign-in/provider-accounts.sql.
import type { Input, ProviderAccount, User } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { auditText } from './audit-text.ts'
import { userColumns } from './user-columns.ts'

export async function useProviderAccount(
  db: Database,
  { issuer, subject, at }: Input<'useProviderAccount'>,
): Promise<User | undefined> {
  const text = `select ${userColumns} from use_provider_account($1, $2, $3)`
  return (await db.objects<User>('useProviderAccount', text, [issuer, subject, at]))[0]
}

export async function addProviderUser(db: Database, add: Input<'addProviderUser'>): Promise<User> {
  const { issuer, subject, newId, displayName, email, at, audit } = add
  const text = `select ${userColumns} from add_provider_user($1, $2, $3, $4, $5, $6, $7)`
  const values = [issuer, subject, newId, displayName, email, at, auditText(audit)]
  return (await db.objects<User>('addProviderUser', text, values))[0] as User
}

export async function linkProviderAccount(
  db: Database,
  link: Input<'linkProviderAccount'>,
): Promise<'done' | 'taken' | 'has-another' | 'refused'> {
  const { issuer, subject, userId, checkedGeneration, email, at, audit } = link
  const values = [userId, checkedGeneration, issuer, subject, email, at, auditText(audit)]
  const row = await db.one('linkProviderAccount', 'select link_provider_account($1, $2, $3, $4, $5, $6, $7)', values)
  return row?.[0] as 'done' | 'taken' | 'has-another' | 'refused'
}

export async function unlinkProviderAccount(
  db: Database,
  { userId, issuer, issuers, audit }: Input<'unlinkProviderAccount'>,
): Promise<'done' | 'absent' | 'last'> {
  const values = [userId, issuer, issuers, auditText(audit)]
  const row = await db.one('unlinkProviderAccount', 'select unlink_provider_account($1, $2, $3, $4)', values)
  return row?.[0] as 'done' | 'absent' | 'last'
}

export async function providerAccounts(db: Database, userId: string): Promise<ProviderAccount[]> {
  const text = `select issuer, subject, email, created_at as "createdAt", last_used_at as "lastUsedAt"
      from provider_account where owner_id = $1 order by issuer`
  return db.objects<ProviderAccount>('providerAccounts', text, [userId])
}
