// At start: is the previous secret, which the process was given, still needed? Says so in one line of the log.
import type { Log } from '../basics/log.ts'
import { Sealing, type Secrets } from '../sealing/secrets.ts'
import type { Store } from '../store/store.ts'

/** Reads nothing if there is no previous secret. A failure is only logged: the service works without the answer. */
export async function reportPreviousSecret(store: Store, secrets: Secrets, log: Log): Promise<void> {
  if (secrets.previous === undefined) return
  try {
    const { countSealedOtherwise } = await import('../factors/re-sealing.ts')
    const { signingKeys, factors } = await countSealedOtherwise(store, new Sealing(secrets))
    const fields = { event: 'previous-secret', signingKeys, factors }
    if (signingKeys + factors > 0) log.warn(fields, 'the previous secret is still needed: run carillon secret rotate')
    else log.info(fields, 'the previous secret is no longer needed: remove CARILLON_SECRET_PREVIOUS')
  } catch (error) {
    log.warn({ event: 'previous-secret', err: error }, 'something in the store was sealed with neither secret')
  }
}
