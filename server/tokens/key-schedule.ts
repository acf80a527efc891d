// Which signing key signs, which are accepted? Only the store's times decide (decision 0044).
import { clockLeewaySeconds, maxTokenLifeMs } from './read-token.ts'
import type { SigningKey } from './signing-keys.store.ts'

export const keySetMaxAgeMs = 5 * 60_000
export const reloadEveryMs = 60_000
/** By then every node and cache has the key. */
export const publishedAheadMs = keySetMaxAgeMs + reloadEveryMs
/** By then its last token has expired, by every node's clock. */
export const acceptedAfterMs = maxTokenLifeMs + clockLeewaySeconds * 1000 + reloadEveryMs

type Times = Pick<SigningKey, 'kid' | 'createdAt' | 'startsAt' | 'retiredAt'>
type KeyState = 'next' | 'signing' | 'accepted' | 'retired'
type Scheduled = { key: SigningKey; state: KeyState; until: number | null }

export function scheduleOf(keys: readonly SigningKey[], now: number): Scheduled[] {
  const inOrder = keys.toSorted(byStart)
  const signing = signingOf(inOrder, now)
  return inOrder.map((key, i) => {
    const successor = inOrder[i + 1]
    const until = successor === undefined ? null : successor.startsAt + acceptedAfterMs
    return { key, until, state: key === signing ? 'signing' : stateOf(key, until, now) }
  })
}

export function nextKeyOf(
  keys: readonly Times[],
  { now, lifetimeMs }: { now: number; lifetimeMs: number },
): { publishAt: number; startsAt: number } | undefined {
  const inOrder = keys.toSorted(byStart)
  const signing = signingOf(inOrder, now)
  if (signing === undefined) return undefined
  // A wrong clock made a later start.
  if (inOrder.some(({ startsAt }) => startsAt > now && startsAt <= now + lifetimeMs))
    return undefined
  const endsAt = signing.startsAt + lifetimeMs
  return {
    publishAt: endsAt - publishedAheadMs,
    startsAt: Math.max(endsAt, now + publishedAheadMs),
  }
}

export function lastOf<Key extends Times>(keys: readonly Key[]): Key | undefined {
  return keys.toSorted(byStart).at(-1)
}

/** After the clock was set back, all keys may start in the future: the first signs. */
function signingOf<Key extends Times>(inOrder: readonly Key[], now: number): Key | undefined {
  const usable = inOrder.filter(({ retiredAt }) => retiredAt === null)
  return usable.findLast(({ startsAt }) => startsAt <= now) ?? usable[0]
}

function stateOf({ startsAt, retiredAt }: Times, until: number | null, now: number): KeyState {
  if (retiredAt !== null) return 'retired'
  if (startsAt > now) return 'next'
  return until !== null && until <= now ? 'retired' : 'accepted'
}

function byStart(a: Times, b: Times): number {
  return a.startsAt - b.startsAt || a.createdAt - b.createdAt || (a.kid < b.kid ? -1 : 1)
}
