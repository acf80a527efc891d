// The accounts that users have at providers of OpenID Connect. The user's row is locked before an account is linked or removed, so that two
// calls for one user take turns. The column owner_id is not named user_id: an account is found without its user.
import { hasPasswordOrPasskey } from '../factors/factors.store.ts'
import type { Audited } from '../store/events.ts'
import { all, exists, get, lockUsers, type Read, record, run, send, type Write } from '../store/statements.ts'
import { type Rotating, rotating } from '../tokens/rotation.store.ts'
import { type User, userColumns } from '../users/users.store.ts'

/** `issuer` and `subject` as the ID token has them, compared byte by byte. */
type ProviderAccountKey = { issuer: string; subject: string }

/** `email`: as the provider gave it when the account was linked, for display only. */
type ProviderAccount = ProviderAccountKey & { email: string | null; createdAt: number; lastUsedAt: number }

/** Finds the user of an account and records the use. Of a disabled user, it records none. */
export function* useProviderAccount(use: ProviderAccountKey & { at: number }): Write<User | undefined> {
  const user = yield* userWith(use)
  if (user?.disabledAt === null)
    yield* send`
      update provider_account set last_used_at = ${use.at} where issuer = ${use.issuer} and subject = ${use.subject}`
  return user
}

type NewAccount = ProviderAccountKey & { email: string | null; at: number }
type AddProviderUser = NewAccount & { newId: string; displayName: string | null } & Audited

/**
 * Creates a user with this account, in one step, with the e-mail address as a verified one. If the account belongs to a user, creates
 * none. Returns the user of the account. Of calls at the same time, one creates the user; the others wait for it at the insert.
 */
export function* addProviderUser(add: AddProviderUser): Write<User> {
  const { newId, displayName, email, at } = add
  yield* lockUsers()
  if (yield* addAccount(add, newId)) {
    yield* send`
      insert into "user" (id, created_at, display_name, email, email_verified_at)
      values (${newId}, ${at}, ${displayName}, ${email}, ${email === null ? null : at})`
    yield* record(add.audit)
  }
  return (yield* userWith(add)) as User
}

type LinkProviderAccount = NewAccount & { userId: string } & Rotating & Audited
type Linked = 'done' | 'unchanged' | 'taken' | 'has-another'

/**
 * Links an account to a user, and rotates the sign-in. Changes nothing if the account is linked to this user already ('unchanged') or to
 * another one ('taken'), or if the user has another account of this issuer ('has-another').
 */
export const linkProviderAccount = rotating(function* (link: LinkProviderAccount): Write<Linked> {
  const { issuer, subject, userId } = link
  if (
    yield* exists`
    select 1 from provider_account where owner_id = ${userId} and issuer = ${issuer} and subject <> ${subject}`
  )
    return 'has-another'
  if (yield* addAccount(link, userId)) return 'done'
  return (yield* userWith(link))?.id === userId ? 'unchanged' : 'taken'
})

type UnlinkProviderAccount = { userId: string; issuer: string; issuers: readonly string[] } & Rotating & Audited

/**
 * Removes the user's account of an issuer, and rotates the sign-in. Returns 'last' and changes nothing if the user has no other way to sign
 * in: a username with a password, a passkey, or an account of another issuer in `issuers`.
 */
export const unlinkProviderAccount = rotating(function* (
  unlink: UnlinkProviderAccount,
): Write<'done' | 'absent' | 'last'> {
  const { userId, issuer, issuers } = unlink
  const accounts = yield* providerAccounts(userId)
  if (!accounts.some((account) => account.issuer === issuer)) return 'absent'
  const hasOtherAccount = accounts.some((account) => account.issuer !== issuer && issuers.includes(account.issuer))
  if (!hasOtherAccount && !(yield* hasPasswordOrPasskey(userId))) return 'last'
  yield* send`delete from provider_account where owner_id = ${userId} and issuer = ${issuer}`
  return 'done'
})

/** False if the account belongs to a user. */
function* addAccount({ issuer, subject, email, at }: NewAccount, ownerId: string): Write<boolean> {
  const added = yield* run`
    insert into provider_account (issuer, subject, owner_id, email, created_at, last_used_at)
    values (${issuer}, ${subject}, ${ownerId}, ${email}, ${at}, ${at}) on conflict (issuer, subject) do nothing`
  return added > 0
}

/** The user of an account, who may be disabled. */
export function* userWith({ issuer, subject }: ProviderAccountKey): Read<User | undefined> {
  return yield* get`
    select ${userColumns} from provider_account a join "user" u on u.id = a.owner_id
    where a.issuer = ${issuer} and a.subject = ${subject}`
}

/** Lists the user's accounts, ordered by issuer. */
export function* providerAccounts(userId: string): Read<ProviderAccount[]> {
  return yield* all<ProviderAccount>`
    select issuer, subject, email, created_at as "createdAt", last_used_at as "lastUsedAt"
    from provider_account where owner_id = ${userId} order by issuer`
}
