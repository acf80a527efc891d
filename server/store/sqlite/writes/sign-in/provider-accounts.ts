// Creates, links and removes the accounts that users have at providers, and records their use.
import type { Input, ProviderAccountKey, User } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'

type Sql = WriteContext['sql']

export function useProviderAccount({ sql }: WriteContext, use: Input<'useProviderAccount'>): User | undefined {
  const user = userWith(sql, use)
  if (user?.disabledAt === null)
    sql.run`
      update provider_account set last_used_at = ${use.at} where issuer = ${use.issuer} and subject = ${use.subject}`
  return user
}

export function addProviderUser(context: WriteContext, add: Input<'addProviderUser'>): User {
  const { sql } = context
  const { issuer, subject, newId, displayName, email, at } = add
  const { changes } = insertAccount(sql, { issuer, subject, email, at, ownerId: newId })
  if (changes === 1) {
    sql.run`
      insert into user (id, created_at, display_name, email, email_verified_at)
      values (${newId}, ${at}, ${displayName}, ${email}, ${email === null ? null : at})`
    recordAudit(context, add.audit)
  }
  return userWith(sql, add) as User
}

export function linkProviderAccount(
  context: WriteContext,
  link: Input<'linkProviderAccount'>,
): 'done' | 'taken' | 'has-another' | 'refused' {
  const { sql } = context
  const { issuer, subject, userId, checkedGeneration, email, at } = link
  const user = sql.get`
    select 1 from user
    where id = ${userId} and disabled_at is null and credential_generation = ${checkedGeneration}`
  if (user === undefined) return 'refused'
  const another = sql.get`
    select 1 from provider_account where owner_id = ${userId} and issuer = ${issuer} and subject <> ${subject}`
  if (another !== undefined) return 'has-another'
  const { changes } = insertAccount(sql, { issuer, subject, email, at, ownerId: userId })
  if (changes === 0) return userWith(sql, link)?.id === userId ? 'done' : 'taken'
  recordAudit(context, link.audit)
  return 'done'
}

export function unlinkProviderAccount(
  context: WriteContext,
  unlink: Input<'unlinkProviderAccount'>,
): 'done' | 'absent' | 'last' {
  const { sql } = context
  const { userId, issuer, issuers } = unlink
  if (!sql.get`select 1 from provider_account where owner_id = ${userId} and issuer = ${issuer}`) return 'absent'
  const otherWay = sql.get`
    select 1 from user u where u.id = ${userId} and (
      (u.username is not null and u.password_hash is not null)
      or exists (select 1 from factor f where f.user_id = u.id and f.kind = 'passkey' and f.confirmed_at is not null)
      or exists (select 1 from provider_account a where a.owner_id = u.id and a.issuer <> ${issuer}
        and a.issuer in (select value from json_each(${JSON.stringify(issuers)}))))`
  if (otherWay === undefined) return 'last'
  sql.run`delete from provider_account where owner_id = ${userId} and issuer = ${issuer}`
  recordAudit(context, unlink.audit)
  return 'done'
}

type NewAccount = ProviderAccountKey & { email: string | null; at: number; ownerId: string }

function insertAccount(sql: Sql, { issuer, subject, email, at, ownerId }: NewAccount) {
  return sql.run`
    insert into provider_account (issuer, subject, owner_id, email, created_at, last_used_at)
    values (${issuer}, ${subject}, ${ownerId}, ${email}, ${at}, ${at}) on conflict do nothing`
}

function userWith(sql: Sql, { issuer, subject }: ProviderAccountKey): User | undefined {
  const user = sql.get`
    select u.id, u.username, u.display_name as "displayName", u.created_at as "createdAt", u.disabled_at as "disabledAt",
      u.credential_generation as "credentialGeneration", u.external_id as "externalId", u.locale, u.email,
      substr(u.issuer, 1, max(instr(u.issuer, char(1)) - 1, 0)) as application,
      substr(u.issuer, instr(u.issuer, char(1)) + 1) as issuer,
      u.issued_generation as "issuedGeneration", u.email_verified_at as "emailVerifiedAt",
      u.device_generation as "deviceGeneration", u.password_reported_at as "passwordReportedAt"
    from provider_account a join user u on u.id = a.owner_id where a.issuer = ${issuer} and a.subject = ${subject}`
  return user === undefined ? undefined : ({ ...user } as User)
}
