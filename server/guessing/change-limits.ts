// How many entries of the audit log can a signed-in user cause (SECURITY.md, L1; docs/decisions/0039-limits-on-guesses.md)? A change is
// counted in the store before it is made, so that all nodes share the count, and taken back if it had no effect.
import type { EventName } from '../audit/events.ts'
import { CarillonError } from '../basics/errors.ts'
import type { AuditEntry, Audited } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { clearGuesses, type GuessRate, reserveGuess } from './guesses.store.ts'

const limit = { intervalMs: 60_000, burst: 60 }

/**
 * Each kind has a count of its own: a thief with a stolen sign-in must not use up what its owner needs to end it. Sign-ins and their ends are not
 * limited here, because a sign-in costs a proof; nor is the linking of an account at a provider, which must be unlinked before the next.
 */
const limited: Readonly<Partial<Record<EventName, 'changes' | 'defences' | 'ends'>>> = {
  'user-changed': 'changes',
  'factor-added': 'changes',
  'factor-removed': 'changes',
  'recovery-codes-created': 'changes',
  'provider-unlinked': 'changes',
  confirmed: 'defences',
  'password-changed': 'defences',
  'session-ended': 'ends',
  'sessions-ended': 'defences',
  'sign-in-disowned': 'defences',
}

/** From then on `store.write` makes no change by a user beyond the limit, and throws TOO_MANY_REQUESTS. */
export function limitChanges(store: Store, now: () => number): void {
  /** The counts of changes in progress, by the id of the entry. */
  const counted = new Map<string, GuessRate>()
  store.onRecorded(async (entries) => {
    for (const { id } of entries) counted.delete(id)
  })
  const write = store.write.bind(store)
  store.write = async (operation, input) => {
    const entry = limitedEntry(input)
    if (entry === undefined) return write(operation, input)
    counted.set(entry.id, await count(write, entry, now()))
    try {
      const result = await write(operation, input)
      const rate = counted.get(entry.id)
      // The change had no effect.
      if (rate !== undefined) await write(clearGuesses, { limits: [rate] })
      return result
    } finally {
      counted.delete(entry.id)
    }
  }
}

/** The entry because of which a change is limited; undefined if it is not. */
function limitedEntry(input: unknown): AuditEntry | undefined {
  const entries = Array.isArray(input) ? (input as AuditEntry[]) : (input as Audited | null | undefined)?.audit
  return entries?.find(({ actor, event }) => actor === 'user' && Object.hasOwn(limited, event))
}

async function count(write: Store['write'], { userId, event }: AuditEntry, at: number): Promise<GuessRate> {
  // Begins like the keys of the user's guesses, which end with the user.
  const rate = { key: `user ${userId} ${limited[event as EventName]}`, ...limit }
  const [refusal] = await write(reserveGuess, { limits: [rate], at })
  if (refusal === undefined) return rate
  const seconds = Math.ceil((refusal.notBefore - at) / 1_000)
  const remedy = `Try again in ${seconds} s. Notifications can be read and marked meanwhile.`
  throw new CarillonError('TOO_MANY_REQUESTS', 'Too many changes of this account', { remedy, retryAfter: seconds })
}
