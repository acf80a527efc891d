import { record } from '../audit/audit.store.ts'
import type { Audited } from '../store/events.ts'
import { all, inList, lockAll, run, send, type Write } from '../store/statements.ts'
import { type NewSigningKey, replaceSigningKeys } from '../tokens/signing-keys.store.ts'
import { lockUsers } from '../users/users.store.ts'

type EndEveryProof = { key: NewSigningKey; sparedUserId: string } & Audited

/**
 * Spares one user's sessions with their push subscriptions, ends all others, and replaces all
 * signing keys, in one step. Returns how many sessions it deleted.
 */
export function* endEveryProof({ key, sparedUserId, audit }: EndEveryProof): Write<number> {
  const ended = yield* run`delete from session where user_id <> ${sparedUserId}`
  yield* send`delete from push_subscription where owner_id <> ${sparedUserId}`
  yield* endSubscriptionsOfTokens(sparedUserId)
  yield* send`delete from challenge where user_id <> ''`
  yield* replaceSigningKeys(key)
  yield* record(audit)
  return ended
}

type RaiseGenerations = { after: string; limit: number; sparedUserId: string }

/** Ends again what began meanwhile with credentials checked before. Returns the last id, if any. */
export function* raiseGenerations({
  after,
  limit,
  sparedUserId,
}: RaiseGenerations): Write<string | undefined> {
  yield* lockUsers()
  const users = yield* lockAll<{ id: string }>`
    select id from "user" where id > ${after} order by id limit ${limit}`
  const ids = users.map(({ id }) => id)
  yield* send`update "user" set credential_generation = credential_generation + 1 where id ${inList(ids)}`
  yield* send`delete from session where user_id ${inList(ids)} and user_id <> ${sparedUserId}`
  yield* send`delete from push_subscription where owner_id ${inList(ids)} and owner_id <> ${sparedUserId}`
  if (ids.includes(sparedUserId)) yield* endSubscriptionsOfTokens(sparedUserId)
  yield* send`delete from challenge where user_id ${inList(ids)}`
  return ids.at(-1)
}

/** On Citus, sessions and subscriptions are on different nodes. */
function* endSubscriptionsOfTokens(userId: string): Write<void> {
  const sessions = yield* all<{ signInId: string }>`
    select sign_in_id as "signInId" from session where user_id = ${userId}`
  const kept = sessions.map(({ signInId }) => signInId)
  yield* send`delete from push_subscription where owner_id = ${userId} and not (sign_in_id ${inList(kept)})`
}
