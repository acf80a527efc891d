// An operator has lost trust in all sign-ins, such as after a stolen backup or secret.
import { recorded, type Source } from '../audit/entry.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { Store } from '../store/store.ts'
import { makeSigningKey } from '../tokens/key-material.ts'
import type { User } from '../users/users.store.ts'
import * as stored from './everyone.store.ts'

type Dependencies = { store: Store; sealing: Sealing; now: () => number; source: Source }

const usersAtOnce = 500

/**
 * Every node refuses the sessions and tokens within a second. Later the generations rise, in
 * batches. The sessions of `spared` stay, but no token.
 */
export async function signOutEveryone(dependencies: Dependencies, spared?: User): Promise<number> {
  const { store, sealing, now } = dependencies
  const at = now()
  const key = await makeSigningKey(sealing, { createdAt: at, startsAt: at })
  const sparedUserId = spared?.id ?? ''
  const detail = { replacedBy: key.kid, ...(spared && { except: spared.id }) }
  const { audit } = recorded(dependencies, { event: 'all-signed-out', detail })
  const ended = await store.write(stored.endEveryProof, { key, sparedUserId, audit })
  let after: string | undefined = ''
  while (after !== undefined)
    after = await store.write(stored.raiseGenerations, { after, limit: usersAtOnce, sparedUserId })
  return ended
}
