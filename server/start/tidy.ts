// What the service deletes and replaces at its start and every hour.
import { removeOldAudit } from '../audit/audit.store.ts'
import { type Clock, iso } from '../basics/clock.ts'
import type { Config } from '../config/settings.ts'
import type { Deliveries } from '../delivery/deliver.ts'
import { removeExpiredChallenges } from '../factors/factors.store.ts'
import type { Guesses } from '../guessing/guesses.ts'
import { removeExpiredLinks } from '../links/links.store.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Store } from '../store/store.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import { removeKeptSecrets } from './sealing-secret.ts'
import type { Upkeep } from './upkeep.ts'

type Parts = {
  store: Store
  clock: Clock
  sessions: Sessions
  keys: SigningKeys
  guesses: Guesses
  deliveries: Deliveries
  upkeep: Upkeep
}

/**
 * Deletes ended sessions, old idempotency keys, old counts of guesses, old entries of the audit log and old notifications, and replaces signing
 * keys.
 */
export async function tidy({ database, auditRetentionMs }: Config, parts: Parts): Promise<void> {
  const { store, clock, sessions, keys, guesses, deliveries, upkeep } = parts
  const { now, wall } = clock
  const removeEnded = async () => {
    await Promise.all([store.write(removeExpiredLinks, now()), store.write(removeExpiredChallenges, now())])
    // In batches, so that no other write waits long.
    while ((await store.write(removeOldAudit, now() - auditRetentionMs)) > 0);
    if (database.engine === 'sqlite') removeKeptSecrets(database.path, iso(wall()).slice(0, 10))
  }
  const others = [sessions.removeStale(), deliveries.removeOld(), guesses.removeOld(), keys.tend()]
  await Promise.all([...others, removeEnded(), upkeep.sweep()])
}
