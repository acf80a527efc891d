// The devices that a user has signed in from, by label and network. The caller has locked the user.
import { get, run, send, type Write } from '../store/statements.ts'

/**
 * `isKnown`: the device proved by other means that the user has signed in from it before. `keep`: how many are kept for a user.
 * `deviceGeneration`: that of the user when the proof was checked. If it was raised since, because the user disowned a sign-in,
 * set a password by a link or was disabled, the sign-in is refused.
 */
export type SeenDevice = { label: string; network: string; isKnown: boolean; keep: number; deviceGeneration?: number }

/** 'first': the user has no known device, and this is now the first. 'new': it is not known, and is not kept by this call. */
export type Familiarity = 'first' | 'known' | 'new'

type Note = { userId: string; device: SeenDevice; at: number }

export function* note({ userId, device, at }: Note): Write<Familiarity> {
  const { label, network, isKnown, keep } = device
  const changed = yield* run`
    update known_device set last_seen_at = case when last_seen_at < ${at} then ${at} else last_seen_at end
    where user_id = ${userId} and label = ${label} and network = ${network}`
  if (changed > 0) return 'known'
  const isFirst = (yield* get`select 1 from known_device where user_id = ${userId} limit 1`) === undefined
  if (!isFirst && !isKnown) return 'new'
  yield* send`
    insert into known_device (user_id, label, network, first_seen_at, last_seen_at)
    values (${userId}, ${label}, ${network}, ${at}, ${at})`
  yield* send`
    delete from known_device where user_id = ${userId} and (label, network) in (
      select label, network from known_device where user_id = ${userId}
      order by last_seen_at desc, first_seen_at desc, label, network limit 1000 offset ${keep})`
  return isKnown ? 'known' : 'first'
}

export function* forgetDevices(userId: string): Write<void> {
  yield* send`delete from known_device where user_id = ${userId}`
}
