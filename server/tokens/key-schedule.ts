// Which signing key signs now, which are accepted, and when is the next one due? The times in the store alone decide (decision 0044).
import { clockLeewaySeconds, maxTokenLifeMs } from './read-token.ts'
import type { SigningKey } from './signing-keys.store.ts'

/** How long others may keep the key set: the `max-age` of its response. */
export const keySetMaxAgeMs = 5 * 60_000
/** Nodes read the keys at least this often, even if no change signal arrives. */
export const reloadEveryMs = 60_000
/** From the publication of a key until nodes sign with it: every cache of the key set has it by then, and every node. */
export const publishedAheadMs = keySetMaxAgeMs + reloadEveryMs
/** How long a key is accepted after its successor started: until its last token has expired, by the clock of every node. */
export const acceptedAfterMs = maxTokenLifeMs + clockLeewaySeconds * 1000 + reloadEveryMs

type Times = Pick<SigningKey, 'kid' | 'createdAt' | 'startsAt' | 'retiredAt'>
type KeyState = 'next' | 'signing' | 'accepted' | 'retired'
/** `until`: when the key stops being accepted; null for the key that starts last. */
type Scheduled = { key: SigningKey; state: KeyState; until: number | null }

/** In the order in which they start. There is one key that signs, unless every key is retired or there is none. */
export function scheduleOf(keys: readonly SigningKey[], now: number): Scheduled[] {
  const inOrder = keys.toSorted(byStart)
  const signing = signingOf(inOrder, now)
  return inOrder.map((key, i) => {
    const successor = inOrder[i + 1]
    const until = successor === undefined ? null : successor.startsAt + acceptedAfterMs
    return { key, until, state: key === signing ? 'signing' : stateOf(key, until, now) }
  })
}

/** When the next key has to be published, and when nodes sign with it; undefined if the next one is published already. */
export function nextKeyOf(
  keys: readonly Times[],
  { now, lifetimeMs }: { now: number; lifetimeMs: number },
): { publishAt: number; startsAt: number } | undefined {
  const inOrder = keys.toSorted(byStart)
  const signing = signingOf(inOrder, now)
  if (signing === undefined) return undefined
  // A key whose start is further away was made while a clock was wrong: it does not keep the others from being replaced.
  if (inOrder.some(({ startsAt }) => startsAt > now && startsAt <= now + lifetimeMs)) return undefined
  const endsAt = signing.startsAt + lifetimeMs
  return { publishAt: endsAt - publishedAheadMs, startsAt: Math.max(endsAt, now + publishedAheadMs) }
}

/** The key that starts last. */
export function lastOf<Key extends Times>(keys: readonly Key[]): Key | undefined {
  return keys.toSorted(byStart).at(-1)
}

/** If the clock was set back, every key may start in the future: then the first of them signs. */
function signingOf<Key extends Times>(inOrder: readonly Key[], now: number): Key | undefined {
  const usable = inOrder.filter(({ retiredAt }) => retiredAt === null)
  return usable.findLast(({ startsAt }) => startsAt <= now) ?? usable[0]
}

function stateOf({ startsAt, retiredAt }: Times, until: number | null, now: number): KeyState {
  if (retiredAt !== null) return 'retired'
  if (startsAt > now) return 'next'
  return until !== null && until <= now ? 'retired' : 'accepted'
}

/** As the store orders them: server/tokens/signing-keys.store.ts. */
function byStart(a: Times, b: Times): number {
  return a.startsAt - b.startsAt || a.createdAt - b.createdAt || (a.kid < b.kid ? -1 : 1)
}
