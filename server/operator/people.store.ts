// What the page /operator reads of all users.
import { factorsOf } from '../factors/factors.store.ts'
import { userKey } from '../inbox/user-key.ts'
import { providerAccounts } from '../providers/provider-accounts.store.ts'
import { all, get, type Read } from '../store/statements.ts'
import { lowerCase, placeIn, searched, type User, userColumns } from '../users/users.store.ts'

/** Reading so many takes about 3 ms on SQLite. */
export const examinedAtOnce = 2_000

type Search = { search: string; after: string }

/**
 * Examines 2,000 users after the id `after`. Returns those whose username, display name, address or
 * external id contains the text, or whose id it is, ignoring ASCII case. `last`: undefined at the
 * end.
 */
export function* searchUsers({
  search,
  after,
}: Search): Read<{ found: User[]; last: string | undefined }> {
  const end = yield* get<{ last: string | null; examined: number }>`
    select max(id) as last, count(*) as examined from
      (select id from "user" where id > ${after} order by id limit ${examinedAtOnce}) examined`
  const last = end?.last ?? ''
  const text = lowerCase(search)
  const found = yield* all<User>`
    select ${userColumns} from "user" u
    where u.id > ${after} and u.id <= ${last} and (${placeIn}(${searched}, ${text}) > 0 or u.id = ${text})
    order by u.id`
  return { found, last: Number(end?.examined) < examinedAtOnce ? undefined : last }
}

/** Reads no secrets. `mutes`: a category of null means everything. */
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
