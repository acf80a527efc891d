// RFC 8058: the link turns mails off for its categories, and opens nothing else. Mail programs POST
// without a cookie. Scanners follow links, so GET changes nothing.

import { iso } from '../../basics/clock.ts'
import type { Sealing } from '../../basics/secrets.ts'
import { changePreferences, readPreferences } from '../../preferences/preferences.store.ts'
import type { Store } from '../../store/store.ts'

const lifetimeMs = 400 * 24 * 3_600_000

/** A mail's line has at most 998 characters (RFC 5322, section 2.1.1). */
const maxNames = 400

/** '' turns off what has no own rule. Without `categories`, everything. */
type Unsubscription = { userId: string; categories?: readonly string[] }

/** Sealed, because programs on the mail's way may read it. Too many categories are everything. */
export function unsubscribeToken(
  sealing: Sealing,
  { at, userId, categories }: Required<Unsubscription> & { at: number },
): Promise<string> {
  const fits = Buffer.byteLength(JSON.stringify(categories)) <= maxNames
  const what = { userId, until: at + lifetimeMs, ...(fits && { categories }) }
  return sealing.seal('unsubscribe', JSON.stringify(what))
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

/** Returns whether all mails that can be are off now, or only these. Repeating it changes nothing. */
export async function unsubscribe(
  { store, wall }: Unsubscribing,
  { userId, categories }: Unsubscription,
): Promise<'these' | 'all'> {
  const now = iso(wall())
  const found = await store.read(readPreferences, { userId, now })
  const chosen = [...(found?.choices.keys() ?? [])]
  const turnOff = (names: readonly string[]) => {
    const choices = names.map((category) => ({ category, mail: 'off' as const }))
    return store.write(changePreferences, { userId, choices, now })
  }
  // A reader with the most choices can add none for another category.
  if (categories !== undefined && (await turnOff(categories)) !== 'too-many') return 'these'
  await turnOff(['', ...chosen.filter((name) => !found?.declared.get(name)?.mandatory)])
  return 'all'
}
