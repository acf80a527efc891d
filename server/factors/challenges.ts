// Challenges: 32 random bytes that a client brings back, once and within five minutes or a shorter time. The store keeps only the hash, and
// what the challenge is for. A challenge names its user, so that another user's is not found.
import { randomBytes } from 'node:crypto'
import { hashOf } from '../basics/secrets.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { addChallenge, type ChallengeKey, findChallenge as findStoredChallenge } from './factors.store.ts'

const challengeLifetimeMs = 5 * 60_000

/** Before it is known who signs in, there is no user id in front of the dot. */
const shape = /^([0-9a-f-]{36})?\.[\w-]{43}$/

export type ChallengeNeeds = { store: Store; users: { now: () => number } }

/** `userId`: '' before it is known. `data` must be JSON and no secret. `lifetimeMs`: five minutes if absent. */
export async function makeChallenge(
  { store, users }: ChallengeNeeds,
  wanted: { userId: string; purpose: string; data: unknown; lifetimeMs?: number; audit?: readonly AuditEntry[] },
): Promise<string> {
  const { userId, purpose, data, lifetimeMs = challengeLifetimeMs, audit } = wanted
  const challenge = `${userId}.${randomBytes(32).toString('base64url')}`
  const kept = { userId, hash: hashOf(challenge), purpose, data: JSON.stringify(data), audit }
  await store.write(addChallenge, { ...kept, expiresAt: users.now() + lifetimeMs })
  return challenge
}

/** Undefined if it is unknown, used or expired, or was made for another purpose. The caller uses `key` up together with the factor. */
export async function findChallenge(
  { store, users }: ChallengeNeeds,
  challenge: string,
  purpose: string,
): Promise<{ key: ChallengeKey; data: unknown } | undefined> {
  const match = shape.exec(challenge)
  if (match === null) return undefined
  const key = { userId: match[1] ?? '', hash: hashOf(challenge) }
  const found = await store.read(findStoredChallenge, { ...key, at: users.now() })
  return found?.purpose === purpose ? { key, data: JSON.parse(found.data) } : undefined
}
