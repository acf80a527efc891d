// The accounts that users have at providers. The user's row is locked before an account is linked or removed, so that two calls for one user
// take turns. The column owner_id is not named user_id: an account is found without its user.
import { all, get, lock, type Read, record, run, send, type Write } from '../store/statements/statements.ts'
import type { Input, ProviderAccount, ProviderAccountKey, User } from '../store/store.ts'
import { lockUser, lockUsers } from '../store/user-lock.ts'
import { toUser, type UserRow, userColumns } from '../users/user-rows.store.ts'

export const providerAccountReads = { providerAccounts }
export const providerAccountWrites = {
  useProviderAccount,
  addProviderUser,
  linkProviderAccount,
  unlinkProviderAccount,
}

function* useProviderAccount(use: Input<'useProviderAccount'>): Write<User | undefined> {
  const user = yield* userWith(use)
  if (user?.disabledAt === null)
    yield* send`
      update provider_account set last_used_at = ${use.at} where issuer = ${use.issuer} and subject = ${use.subject}`
  return user
}

/** A second call for the same account waits at the insert for the first one, and then finds its user. */
function* addProviderUser(add: Input<'addProviderUser'>): Write<User> {
  const { newId, displayName, email, at } = add
  yield* lockUsers()
  if (yield* addAccount({ ...add, ownerId: newId })) {
    yield* send`
      insert into "user" (id, created_at, display_name, email, email_verified_at)
      values (${newId}, ${at}, ${displayName}, ${email}, ${email === null ? null : at})`
    yield* record(add.audit)
  }
  return (yield* userWith(add)) as User
}

function* linkProviderAccount(link: Input<'linkProviderAccount'>): Write<'done' | 'taken' | 'has-another' | 'refused'> {
  const { issuer, subject, userId, checkedGeneration } = link
  yield* lockUsers()
  const user = yield* lock`
    select 1 from "user"
    where id = ${userId} and disabled_at is null and credential_generation = ${checkedGeneration}`
  if (user === undefined) return 'refused'
  const another = yield* get`
    select 1 from provider_account where owner_id = ${userId} and issuer = ${issuer} and subject <> ${subject}`
  if (another !== undefined) return 'has-another'
  if (!(yield* addAccount({ ...link, ownerId: userId })))
    return (yield* userWith(link))?.id === userId ? 'done' : 'taken'
  yield* record(link.audit)
  return 'done'
}

function* unlinkProviderAccount({
  userId,
  issuer,
  issuers,
  audit,
}: Input<'unlinkProviderAccount'>): Write<'done' | 'absent' | 'last'> {
  yield* lockUser(userId)
  const accounts = yield* providerAccounts(userId)
  if (!accounts.some((account) => account.issuer === issuer)) return 'absent'
  const hasOtherAccount = accounts.some((account) => account.issuer !== issuer && issuers.includes(account.issuer))
  if (!hasOtherAccount && !(yield* signsInWithout(userId))) return 'last'
  yield* send`delete from provider_account where owner_id = ${userId} and issuer = ${issuer}`
  yield* record(audit)
  return 'done'
}

/** With a password or a passkey. */
function* signsInWithout(userId: string): Read<boolean> {
  const way = yield* get`
    select 1 from "user" u where u.id = ${userId} and (
      (u.username is not null and u.password_hash is not null)
      or exists (select 1 from factor f where f.user_id = ${userId} and f.kind = 'passkey' and f.confirmed_at is not null))`
  return way !== undefined
}

type NewAccount = ProviderAccountKey & { email: string | null; at: number; ownerId: string }

/** False if the account belongs to a user. */
function* addAccount({ issuer, subject, email, at, ownerId }: NewAccount): Write<boolean> {
  const added = yield* run`
    insert into provider_account (issuer, subject, owner_id, email, created_at, last_used_at)
    values (${issuer}, ${subject}, ${ownerId}, ${email}, ${at}, ${at}) on conflict (issuer, subject) do nothing`
  return added > 0
}

function* userWith({ issuer, subject }: ProviderAccountKey): Read<User | undefined> {
  const row = yield* get<UserRow>`
    select ${userColumns} from provider_account a join "user" u on u.id = a.owner_id
    where a.issuer = ${issuer} and a.subject = ${subject}`
  return row && toUser(row)
}

function* providerAccounts(userId: string): Read<ProviderAccount[]> {
  return yield* all<ProviderAccount>`
    select issuer, subject, email, created_at as "createdAt", last_used_at as "lastUsedAt"
    from provider_account where owner_id = ${userId} order by issuer`
}
