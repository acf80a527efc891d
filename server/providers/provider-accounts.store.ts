// Changes first lock the user's row. Accounts are found without users: the column is not user_id.

import { record } from '../audit/audit.store.ts'
import { hasPasswordOrPasskey } from '../factors/factors.store.ts'
import { reachAddress } from '../inbox/reminders.store.ts'
import type { Audited } from '../store/events.ts'
import { all, exists, get, type Read, run, send, type Write } from '../store/statements.ts'
import { type Rotating, rotating } from '../users/access/rotation.store.ts'
import { lockUsers, type User, userColumns } from '../users/users.store.ts'

/** Compared byte by byte. */
type ProviderAccountKey = { issuer: string; subject: string }

/** `email`: only for display. */
type ProviderAccount = ProviderAccountKey & {
  email: string | null
  createdAt: number
  lastUsedAt: number
}

export function* useProviderAccount(
  use: ProviderAccountKey & { at: number },
): Write<User | undefined> {
  const user = yield* userWith(use)
  if (user?.disabledAt === null)
    yield* send`
      update provider_account set last_used_at = ${use.at} where issuer = ${use.issuer} and subject = ${use.subject}`
  return user
}

type NewAccount = ProviderAccountKey & { email: string | null; at: number }
type AddProviderUser = NewAccount & { newId: string; displayName: string | null } & Audited

/** Of simultaneous calls, one creates the user. */
export function* addProviderUser(add: AddProviderUser): Write<User> {
  const { newId, displayName, email, at } = add
  yield* lockUsers()
  if (yield* addAccount(add, newId)) {
    yield* send`
      insert into "user" (id, created_at, display_name, email, email_verified_at)
      values (${newId}, ${at}, ${displayName}, ${email}, ${email === null ? null : at})`
    if (email !== null) yield* reachAddress(newId, true)
    yield* record(add.audit)
  }
  return (yield* userWith(add)) as User
}

type LinkProviderAccount = NewAccount & { userId: string } & Rotating & Audited
type Linked = 'done' | 'unchanged' | 'taken' | 'has-another'

/**
 * Links an account, and rotates the sign-in. Changes nothing if it returns 'taken' (another user
 * has it) or 'has-another' (the user has one of this issuer).
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

type UnlinkProviderAccount = {
  userId: string
  issuer: string
  issuers: readonly string[]
} & Rotating &
  Audited

/**
 * Removes an account, and rotates the sign-in. Returns 'last', and changes nothing, if the user has
 * no other way to sign in.
 */
export const unlinkProviderAccount = rotating(function* (
  unlink: UnlinkProviderAccount,
): Write<'done' | 'absent' | 'last'> {
  const { userId, issuer, issuers } = unlink
  const accounts = yield* providerAccounts(userId)
  if (!accounts.some((account) => account.issuer === issuer)) return 'absent'
  const hasOtherAccount = accounts.some(
    (account) => account.issuer !== issuer && issuers.includes(account.issuer),
  )
  if (!hasOtherAccount && !(yield* hasPasswordOrPasskey(userId))) return 'last'
  yield* send`delete from provider_account where owner_id = ${userId} and issuer = ${issuer}`
  return 'done'
})

function* addAccount({ issuer, subject, email, at }: NewAccount, ownerId: string): Write<boolean> {
  const added = yield* run`
    insert into provider_account (issuer, subject, owner_id, email, created_at, last_used_at)
    values (${issuer}, ${subject}, ${ownerId}, ${email}, ${at}, ${at}) on conflict (issuer, subject) do nothing`
  return added > 0
}

export function* userWith({ issuer, subject }: ProviderAccountKey): Read<User | undefined> {
  return yield* get`
    select ${userColumns} from provider_account a join "user" u on u.id = a.owner_id
    where a.issuer = ${issuer} and a.subject = ${subject}`
}

export function* providerAccounts(userId: string): Read<ProviderAccount[]> {
  return yield* all<ProviderAccount>`
    select issuer, subject, email, created_at as "createdAt", last_used_at as "lastUsedAt"
    from provider_account where owner_id = ${userId} order by issuer`
}
