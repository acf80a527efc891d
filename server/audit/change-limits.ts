// How many entries of the audit log can a signed-in user cause (SECURITY.md, L1; docs/decisions/0039-limits-on-guesses.md)? A change is
// counted in the store before it is made, so that all nodes share the count, and taken back if it had no effect.
import { CarillonError } from '../basics/errors.ts'
import type { AuditEntry, GuessRate, Store } from '../store/store.ts'
import type { EventName } from './events.ts'

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

/** The entry because of which a change is limited; undefined if it is not. */
export function limitedEntry(entries: readonly AuditEntry[]): AuditEntry | undefined {
  return entries.find(({ actor, event }) => actor === 'user' && Object.hasOwn(limited, event))
}

type Dependencies = { store: Pick<Store, 'reserveGuess' | 'clearGuesses'>; now: () => number }

export class ChangeLimits {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Counts a change. Throws TOO_MANY_REQUESTS. */
  async begin({ userId, event }: AuditEntry): Promise<GuessRate> {
    const { store, now } = this.#dependencies
    // Begins like the keys of the user's guesses, which end with the user.
    const rate = { key: `user ${userId} ${limited[event as EventName]}`, ...limit }
    const at = now()
    const [refusal] = await store.reserveGuess({ counts: { keys: [], delaysMs: [0], keptMs: 0 }, rates: [rate], at })
    if (refusal === undefined) return rate
    const seconds = Math.ceil((refusal.notBefore - at) / 1_000)
    const remedy = `Try again in ${seconds} s. Notifications can be read and marked meanwhile.`
    throw new CarillonError('TOO_MANY_REQUESTS', 'Too many changes of this account', { remedy, retryAfter: seconds })
  }

  /** The change had no effect. */
  async takeBack(rate: GuessRate): Promise<void> {
    await this.#dependencies.store.clearGuesses({ keys: [], rates: [rate] })
  }
}
