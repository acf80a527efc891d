// A push subscription (RFC 8030) belongs to the sign-in that added it, and ends with it
// (tokens.store.ts), as do unsent pushes.
import type { ProvedFactor } from '../../http/operation.ts'
import { reachBits } from '../../inbox/reminders.store.ts'
import { userKey } from '../../inbox/user-key.ts'
import {
  all,
  exists,
  get,
  inList,
  Part,
  type Read,
  run,
  send,
  type Write,
} from '../../store/statements.ts'
import { lockSubscriptions } from '../../tokens/tokens.store.ts'
import { isOutdated, type PresentedProof } from '../../users/access/rotation.store.ts'
import { lockUser } from '../../users/users.store.ts'

export const maxSubscriptions = 20

/** In place of a sign-in: the token of the service or an issuer lives for minutes. */
export const tokenSignIns = ['issued', 'foreign'] as const

export type Subscription = {
  id: string
  ownerId: string
  signInId: string
  endpoint: string
  p256dh: string
  auth: string
  url: string
  device: string | null
  factor: ProvedFactor | null
  createdAt: number
  lastUsedAt: number
}
const columns =
  new Part(`id, owner_id as "ownerId", sign_in_id as "signInId", endpoint, p256dh, auth, url, device, factor,
  created_at as "createdAt", last_used_at as "lastUsedAt"`)

/**
 * `replaces`: another subscription's id, or any text for an ended one. `proof`: absent for a
 * cookie. `issuedGeneration`: of an issued token.
 */
export type NewSubscription = Omit<Subscription, 'createdAt' | 'lastUsedAt'> & {
  at: number
  replaces?: string | null
  proof?: PresentedProof | undefined
  issuedGeneration?: number | undefined
}

/**
 * Takes over an existing subscription with its new keys, also from another user. A replacement
 * keeps the `url`. Changes nothing if it returns 'ended' (the sign-in has ended), 'absent' (it has
 * not added what is to be replaced) or 'too-many' (the user has `maxSubscriptions` others).
 */
export function* addSubscription(
  added: NewSubscription,
): Write<'done' | 'ended' | 'absent' | 'too-many'> {
  const { id, ownerId, signInId, endpoint, p256dh, auth, device, factor, at } = added
  if (!(yield* lockUser(ownerId))) return 'ended'
  yield* lockSubscriptions(ownerId)
  if (!(yield* isAlive(added))) return 'ended'
  const replaces = added.replaces ?? ''
  const replaced = yield* all<{ id: string; url: string }>`
    select id, url from push_subscription
    where owner_id = ${ownerId} and sign_in_id = ${signInId} and (id = ${replaces} or ${hasEnded}) order by endpoint desc`
  const [before] = replaces === '' ? [added] : replaced
  if (before === undefined) return 'absent'
  const others = yield* get<{ count: number }>`
    select count(*) as count from push_subscription
    where owner_id = ${ownerId} and id not in (${id}, ${replaces}) and not ${hasEnded}`
  if ((others?.count ?? 0) >= maxSubscriptions) return 'too-many'
  const ids = replaced.map((one) => one.id)
  yield* send`delete from push_subscription where id ${inList(ids)}`
  yield* send`
    insert into push_subscription (id, owner_id, sign_in_id, endpoint, p256dh, auth, url, device, factor, created_at, last_used_at)
    values (${id}, ${ownerId}, ${signInId}, ${endpoint}, ${p256dh}, ${auth}, ${before.url}, ${device}, ${factor}, ${at}, ${at})
    on conflict (id) do update set owner_id = excluded.owner_id, sign_in_id = excluded.sign_in_id, endpoint = excluded.endpoint, p256dh = excluded.p256dh,
      auth = excluded.auth, url = excluded.url, device = excluded.device, factor = excluded.factor, last_used_at = excluded.last_used_at,
      created_at = case when push_subscription.owner_id = excluded.owner_id then push_subscription.created_at else excluded.created_at end`
  yield* send`
    insert into inbox (user_id, reach) values (${userKey(ownerId)}, ${reachBits.push})
    on conflict (user_id) do update set reach = inbox.reach | ${reachBits.push}`
  // Pushes that wait for the old one go to this one.
  yield* send`
    update outbox set target = ${id}, queue = ${new URL(endpoint).host}
    where channel = 'push' and target ${inList(ids)} and owner_id = ${ownerId}`
  return 'done'
}

function* isAlive({ ownerId, signInId, proof, issuedGeneration }: NewSubscription): Write<boolean> {
  if (yield* exists`select 1 from "user" where id = ${ownerId} and disabled_at is not null`)
    return false
  if (proof === undefined)
    return yield* exists`select 1 from session where user_id = ${ownerId} and sign_in_id = ${signInId}`
  if (yield* isOutdated(proof)) return false
  return !(yield* exists`
    select 1 from revocation where user_id = ${ownerId} and sign_in_id = 'issued' and first_generation > ${issuedGeneration ?? Number.MAX_SAFE_INTEGER}`)
}

/** The push service ended it. The browser's next one may take its place without asking the user. */
const hasEnded = new Part(`(endpoint = '')`)

export function* endSubscription({
  id,
  ownerId,
}: Pick<Subscription, 'id' | 'ownerId'>): Write<void> {
  yield* send`
    update push_subscription set endpoint = '', p256dh = '', auth = '' where id = ${id} and owner_id = ${ownerId}`
}

type Listed = { ownerId: string; isScoped: boolean }

/** `isScoped`: an application's token sees only those of applications. */
const inScope = new Part(`sign_in_id in ('issued', 'foreign')`)

export function* listSubscriptions({ ownerId, isScoped }: Listed): Read<Subscription[]> {
  return yield* all<Subscription>`
    select ${columns} from push_subscription
    where owner_id = ${ownerId} and (${isScoped ? 0 : 1} = 1 or ${inScope}) and not ${hasEnded}
    order by created_at desc, id`
}

export function* findSubscription({
  id,
  ownerId,
}: Pick<Subscription, 'id' | 'ownerId'>): Read<Subscription | undefined> {
  return yield* get<Subscription>`
    select ${columns} from push_subscription where id = ${id} and owner_id = ${ownerId} and not ${hasEnded}`
}

/** Returns false if the user has no such subscription. */
export function* removeSubscription({
  id,
  ownerId,
  isScoped,
}: Listed & { id: string }): Write<boolean> {
  const removed = yield* run`
    delete from push_subscription where id = ${id} and owner_id = ${ownerId} and (${isScoped ? 0 : 1} = 1 or ${inScope})`
  return removed > 0
}

/** Applications' subscriptions go if no page has used them since `before`. */
export function* removeUnusedSubscriptions(before: number): Write<void> {
  yield* send`delete from push_subscription where ${inScope} and last_used_at < ${before}`
}
