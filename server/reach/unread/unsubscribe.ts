// RFC 8058: the link turns mails off for its categories, and opens nothing else. Mail programs POST
// without a cookie. Scanners follow links, so GET changes nothing.

import { iso } from '../../basics/clock.ts'
import type { Sealing } from '../../basics/secrets.ts'
import { changePreferences } from '../../preferences/preferences.store.ts'
import type { Store } from '../../store/store.ts'

const lifetimeMs = 400 * 24 * 3_600_000

/** '' turns off what has no own rule. */
type Unsubscription = { userId: string; categories: readonly string[] }

/** Sealed, because programs on the mail's way may read it. */
export function unsubscribeToken(
  sealing: Sealing,
  { at, ...what }: Unsubscription & { at: number },
): Promise<string> {
  return sealing.seal('unsubscribe', JSON.stringify({ ...what, until: at + lifetimeMs }))
}

export type Unsubscribing = {
  store: Store
  sealing: Sealing
  now: () => number
  wall: () => number
}

/** Undefined if it has expired or is none. */
export async function readUnsubscribeToken(
  { sealing, now }: Unsubscribing,
  token: string,
): Promise<Unsubscription | undefined> {
  const text = await sealing.open('unsubscribe', token)
  const { until = 0, ...what } = JSON.parse(text ?? '{}')
  return now() < until ? what : undefined
}

/** Repeating it changes nothing. */
export async function unsubscribe(
  { store, wall }: Unsubscribing,
  { userId, categories }: Unsubscription,
): Promise<void> {
  const choices = categories.map((category) => ({ category, mail: 'off' as const }))
  await store.write(changePreferences, { userId, choices, now: iso(wall()) })
}
