import { factorsOf } from '../factors/factors.store.ts'
import { userKey } from '../inbox/user-key.ts'
import { providerAccounts } from '../providers/provider-accounts.store.ts'
import { all, inList, type Read } from '../store/statements.ts'
import { findableUsername } from '../users/username.ts'
import { lowerCase, type User, userColumns } from '../users/users.store.ts'

/** Written out in the statement, since PostgreSQL plans it without values. */
export const maxFound = 50

/**
 * The first 50 users whose id is the text, or whose username, address, display name or external id
 * begins with it. Each is an index range: usernames in prepared form, external ids byte by byte,
 * others without ASCII case.
 */
export function* searchUsers(search: string): Read<User[]> {
  const name = findableUsername(search) ?? search
  const text = lowerCase(search)
  const found = yield* all<{ id: string }>`
    select id from (select id from "user" where username >= ${name} and username < ${endOf(name)}
      order by username limit 50) of_name
    union select id from (select id from "user" where lower(email) >= ${text} and lower(email) < ${endOf(text)}
      and email is not null order by lower(email) limit 50) of_address
    union select id from (select id from "user" where lower(display_name) >= ${text}
      and lower(display_name) < ${endOf(text)} and display_name is not null order by lower(display_name) limit 50) of_title
    union select id from (select id from "user" where external_id >= ${search} and external_id < ${endOf(search)}
      and external_id is not null order by external_id limit 50) of_external_id
    union select id from "user" where id = ${text}`
  return yield* all<User>`
    select ${userColumns} from "user" u where u.id ${inList(found.map(({ id }) => id))}
    order by coalesce(u.username, u.external_id), u.id limit 50`
}

/** The last code point ends the range of a prefix. */
function endOf(text: string): string {
  return `${text}\u{10ffff}`
}

/** Reads no secrets. `mutes`: category null means everything. */
export function* belongingsOf(
  userId: string,
): Read<Record<'devices' | 'factors' | 'accounts' | 'mutes', object[]>> {
  const { factors } = yield* factorsOf(userId)
  return {
    devices: yield* all`
      select label, network, first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt"
      from known_device where user_id = ${userId} order by last_seen_at desc, label, network`,
    factors: factors.map(({ id, kind, label, createdAt, confirmedAt, lastUsedAt }) => {
      return { id, kind, label, createdAt, confirmedAt, lastUsedAt }
    }),
    accounts: yield* providerAccounts(userId),
    mutes: yield* all`
      select nullif(category, '') as category, muted_until as "mutedUntil"
      from preference p where user_id = ${userKey(userId)} and muted_until is not null order by p.category`,
  }
}
